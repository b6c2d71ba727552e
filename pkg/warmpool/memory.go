package warmpool

import "time"

// Memory is what a plan must know of those before it. The zero Memory has no past: what is held then is kept for as long
// as a node takes to come. It is a value: planning leaves the old one as it was, so that a plan can be made again.
type Memory struct {
	past past
}

// past is all whole numbers, so that a Memory's text gives back the very same Memory: times in Unix milliseconds, capacity
// in chunks or thousandths of one.
type past struct {
	// at is when the last plan was made; 0 before the first.
	at int64
	// ready are the chunks that were there then, placed the thousandths of a chunk that members' replicas had a place on.
	ready, placed int64
	// had are the whole chunks that members' replicas had a place on or waited for.
	had int64

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

// instant is a time as it is remembered.
func instant(now time.Time) int64 { return min(max(now.UnixMilli(), 1), most) }

// asTime is the time of an instant.
func asTime(at int64) time.Time { return time.UnixMilli(at).UTC() }

// longestGap is the longest time between two plans of which it is taken that all stayed as it was.
const longestGap = 5 * time.Minute

// since is the time since the last plan; 0 where a clock was set back.
func (m *past) since(at int64) time.Duration {
	return time.Duration(max(0, min(at-m.at, most/int64(time.Millisecond)))) * time.Millisecond
}
