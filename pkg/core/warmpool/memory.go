package warmpool

import (
	"errors"
	"fmt"
	"time"
)

// Memory is what a plan must know of those before it. The zero Memory has no past: what is held then is kept for as long
// as a node takes to come. It is a value: planning leaves the old one as it was, so that a plan can be made again.
type Memory struct {
	past past
}

type past struct {
	Past
	// wants are those of the time that a chunk is held for.
	wants wants
}

// Past is what a Memory holds beside its wants. It is all whole numbers, so that what is written of it gives back the very
// same Memory: times in Unix milliseconds, capacity in chunks or thousandths of one.
type Past struct {
	// At is when the last plan was made; 0 before the first.
	At int64
	// Ready are the chunks that were there then, Placed the thousandths of a chunk that members' replicas had a place on.
	Ready, Placed int64
	// Claimed are the whole chunks that members' replicas had a place on or waited for.
	Claimed int64

	// Idle are the chunk-milliseconds that were idle on the day of the last plan (UTC), Unseen the milliseconds of it in which
	// nobody looked.
	Idle, Unseen int64

	// Lost are thousandths of chunks that ceased to be ready, Gained those that members' replicas took, both since
	// Matching: what is in both was Borrowed.
	Lost, Gained, Matching, Borrowed int64

	// Covers is true while the pool covers its members; Turning is since when the opposite would be right, 0 while it is not.
	Covers  bool
	Turning int64
	// Unreliable is true while a member is in doubt.
	Unreliable bool
}

const (
	// latest is the last millisecond of the year 9999.
	latest = 253_402_300_799_999
	// most is the greatest sum of chunks over time, mostHeld the greatest number of thousandths of chunks. No arithmetic
	// with them overflows.
	most, mostHeld = 1 << 50, 1000 * unlimited
)

// ErrMemory means that no plan can have left what is to be recalled.
var ErrMemory = errors.New("not the memory of a pool")

// Recall is the Memory of which Past and Wants return the given values. The error says which of them no plan leaves.
func Recall(p Past, all []Want) (Memory, error) {
	m := past{Past: p}
	if len(all) > len(m.wants.all) {
		return Memory{}, fmt.Errorf("%d wants, want at most %d: %w", len(all), len(m.wants.all), ErrMemory)
	}
	m.wants.n = copy(m.wants.all[:], all)
	times, counts := []int64{p.At, p.Matching, p.Turning}, []int64{p.Ready, p.Claimed}
	for _, w := range all {
		times, counts = append(times, w.At), append(counts, w.Total, w.Base)
	}
	for _, kind := range []struct {
		name   string
		most   int64
		values []int64
	}{
		{"time in milliseconds", latest, times},
		{"number of chunks", unlimited, counts},
		{"number of thousandths of chunks", mostHeld, []int64{p.Placed, p.Lost, p.Gained, p.Borrowed}},
		{"sum of idle or unseen milliseconds", most, []int64{p.Idle, p.Unseen}},
	} {
		for _, v := range kind.values {
			if v < 0 || v > kind.most {
				return Memory{}, fmt.Errorf("a %s of %d, want 0 to %d: %w", kind.name, v, kind.most, ErrMemory)
			}
		}
	}
	return Memory{past: m}, nil
}

// Past is what the memory holds beside its wants.
func (m Memory) Past() Past { return m.past.Past }

// Wants are what was wanted in the time that a chunk is held for, the oldest first, at most 33.
func (m Memory) Wants() []Want { return m.past.wants.all[:m.past.wants.n] }

// instant is a time as it is remembered.
func instant(now time.Time) int64 { return min(max(now.UnixMilli(), 1), latest) }

// asTime is the time of an instant.
func asTime(at int64) time.Time { return time.UnixMilli(at).UTC() }

// longestGap is the longest time between two plans of which it is taken that all stayed as it was.
const longestGap = 5 * time.Minute

// since is the time since the last plan; 0 where a clock was set back.
func (m *past) since(at int64) time.Duration {
	return time.Duration(max(0, min(at-m.At, most/int64(time.Millisecond)))) * time.Millisecond
}
