package warmpool

import (
	"errors"
	"fmt"
	"time"
)

// Memory is the state between two plans. The zero Memory has no past. The capacity that is held at the first plan is then kept for a node's
// lead time. It is a value: planning does not change it, so that a plan can be repeated.
type Memory struct {
	past past
}

type past struct {
	Past
	// wants are the wants within the hold time.
	wants wants
}

// Past is a Memory without its wants. All fields are whole numbers, so that a written Memory is restored exactly. Times are in Unix
// milliseconds, and capacity is in chunks or thousandths of chunks.
type Past struct {
	// At is the time of the last plan; 0 before the first.
	At int64
	// Ready is the number of chunks that were ready at that time. Placed is the number of thousandths of chunks on which members' replicas
	// had a place.
	Ready, Placed int64
	// Claimed is the number of whole chunks of members' replicas that had a place or waited for one.
	Claimed int64

	// Idle is the number of idle chunk-milliseconds on the day (UTC) of the last plan. Unseen is the number of milliseconds of that day
	// without plans.
	Idle, Unseen int64

	// Lost is the number of thousandths of chunks that ceased to be ready since Matching, and Gained is the number that members' replicas
	// took since then. What is in both was Borrowed.
	Lost, Gained, Matching, Borrowed int64

	// Covers is true while the pool covers its members. TurningSince is the time since when the opposite would be right; 0 if Covers is
	// right.
	Covers       bool
	TurningSince int64
	// Unreliable is true while a member is unreliable.
	Unreliable bool
}

const (
	// latest is the last millisecond of the year 9999.
	latest = 253_402_300_799_999
	// maxSum is the largest sum of chunks over time, and maxThousandths is the largest number of thousandths of chunks. Arithmetic with
	// them does not overflow.
	maxSum, maxThousandths = 1 << 50, 1000 * unlimited
)

// ErrMemory means that a stored memory is invalid.
var ErrMemory = errors.New("invalid memory of a pool")

// RestoreMemory returns the Memory with the given Past and Wants. The error contains an invalid value.
func RestoreMemory(p Past, all []Want) (Memory, error) {
	m := past{Past: p}
	if len(all) > len(m.wants.all) {
		return Memory{}, fmt.Errorf("%d wants: expected at most %d: %w", len(all), len(m.wants.all), ErrMemory)
	}
	m.wants.n = copy(m.wants.all[:], all)
	times, counts := []int64{p.At, p.Matching, p.TurningSince}, []int64{p.Ready, p.Claimed}
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
		{"number of thousandths of chunks", maxThousandths, []int64{p.Placed, p.Lost, p.Gained, p.Borrowed}},
		{"sum of idle or unseen milliseconds", maxSum, []int64{p.Idle, p.Unseen}},
	} {
		for _, v := range kind.values {
			if v < 0 || v > kind.most {
				return Memory{}, fmt.Errorf("%s %d: expected 0 to %d: %w", kind.name, v, kind.most, ErrMemory)
			}
		}
	}
	return Memory{past: m}, nil
}

// Past returns the memory without its wants.
func (m Memory) Past() Past { return m.past.Past }

// Wants returns the wants within the hold time, the oldest first, at most 33.
func (m Memory) Wants() []Want { return m.past.wants.all[:m.past.wants.n] }

// instant converts a time to the memory's unit.
func instant(now time.Time) int64 { return min(max(now.UnixMilli(), 1), latest) }

// asTime converts an instant to a time.
func asTime(at int64) time.Time { return time.UnixMilli(at).UTC() }

// longestGap is the longest time between two plans in which the state is assumed to be unchanged.
const longestGap = 5 * time.Minute

// since returns the time since the last plan; 0 if a clock was set back.
func (m *past) since(at int64) time.Duration {
	return time.Duration(max(0, min(at-m.At, maxSum/int64(time.Millisecond)))) * time.Millisecond
}
