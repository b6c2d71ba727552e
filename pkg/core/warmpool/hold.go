package warmpool

import "time"

// minHold is how long a chunk is held at least, so that short changes between two plans release nothing.
const minHold = 30 * time.Second

// breakEven is how long a chunk that is no longer wanted is kept: as long as getting it again would take. At that
// moment its idle time equals the time for which its successor would be paid before it is of use. So the pool pays at
// most twice the cost of a policy that knows the future: the ski-rental rule (Karlin, Manasse, Rudolph and Sleator
// 1988), and no deterministic rule is better.
//
// Worked: nodes take 5 minutes. A want that falls from 6 to 4 and returns to 6 after 4 minutes costs 2 chunks 4 idle
// minutes. Releasing them would have cost 5 minutes each, and the load its wait. If it stays at 4, they are released
// after 5 minutes.
func breakEven(node time.Duration) time.Duration { return max(node, minHold) }

// Want is what was wanted at a time (in Unix milliseconds), in chunks: the total, and that of the first capacity type.
type Want struct {
	At, Total, Base int64
}

// holdSlots is the number of parts of a hold time.
const holdSlots = 32

// wants are those within the hold time, oldest first, one for each part of it: bounded, however often plans are made.
type wants struct {
	n   int
	all [holdSlots + 1]Want
}

// add adds the current want and drops those older than the hold time.
func (w *wants) add(now Want, hold time.Duration) {
	span := max(hold.Milliseconds(), 1)
	kept := 0
	for _, old := range w.all[:w.n] {
		// A want in the future comes from a clock that was set back.
		if old.At <= now.At && now.At-old.At < span {
			w.all[kept] = old
			kept++
		}
	}
	clear(w.all[kept:])
	w.n = kept
	part := max(span/holdSlots, 1)
	switch last := w.n - 1; {
	case last >= 0 && w.all[last].At/part == now.At/part:
		w.all[last] = w.all[last].higher(now)
	case w.n == len(w.all):
		// The hold time was shorter before, and its parts finer.
		w.all[1] = w.all[1].higher(w.all[0])
		copy(w.all[:], w.all[1:])
		w.all[last] = now
	default:
		w.all[w.n] = now
		w.n++
	}
}

// lower reduces all wants by what members' replicas have claimed since the last plan: keeping that would be buying it
// again.
func (w *wants) lower(chunks int64) {
	for i := range w.all[:w.n] {
		w.all[i].Total = max(0, w.all[i].Total-chunks)
		w.all[i].Base = max(0, w.all[i].Base-chunks)
	}
}

// higher returns the later time and the larger numbers of two wants.
func (a Want) higher(b Want) Want {
	return Want{At: max(a.At, b.At), Total: max(a.Total, b.Total), Base: max(a.Base, b.Base)}
}

// highest returns the largest want, with its latest time.
func (w *wants) highest() Want {
	var out Want
	for _, a := range w.all[:w.n] {
		if a.Total >= out.Total {
			out.At, out.Total = a.At, a.Total
		}
		out.Base = max(out.Base, a.Base)
	}
	return out
}
