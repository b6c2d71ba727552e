package warmpool

import "time"

// Memory is what a plan must know of those before it. The zero Memory has no past: what is held then is kept for as long
// as a node takes to come. It is a value: planning leaves the old one as it was, so that a plan can be made again.
//
// Everything is a whole number, so that its text gives back the very same Memory: times in Unix milliseconds, capacity in
// chunks or thousandths of one.
type Memory struct {
	// at is when the last plan was made; 0 before the first.
	at int64
	// ready are the chunks that were there then, placed the thousandths of a chunk that members' replicas had a place on.
	ready, placed int64

	// day is that of the idle time, in days since 1970: stood are the chunk-milliseconds that were idle in it, unseen the
	// milliseconds in which nobody looked.
	day, stood, unseen int64

	// lost are thousandths of chunks that ceased to be ready, gained those that members' replicas took, both since
	// matching: what is in both was borrowed.
	lost, gained, matching, borrowed int64

	// covers is 1 while the pool covers its members; turning is since when the opposite would be right, 0 while it is not.
	covers, turning int64
	// doubted is 1 while a member is in doubt.
	doubted int64

	// wants are those of the time that a chunk is held for.
	wants wants
}

// Plan says what the pool should hold at the time now, and what is to be remembered of it. It is deterministic, and finite
// whatever the members say.
func (m Memory) Plan(now time.Time, p Pool, members []Member, c Capacity) (Plan, Memory) {
	d := together(p, members)
	total := min(max(d.node, d.pod, p.Min), max(p.Max, 0))
	m.wants.add(want{at: now.UnixMilli(), total: int64(total), base: int64(total)}, breakEven(p.Node))
	held := int(m.wants.highest().total)
	out := Plan{Want: held, Base: held, Pod: d.pod, Node: d.node, State: Ready}
	if c.Ready < held {
		out.State = Filling
	}
	return out, m
}
