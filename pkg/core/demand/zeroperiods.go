package demand

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// notice is the time from an observation to its effect. By then, all adapter replicas have read the observation, because a status write
	// may take that long. At the start of a period, these seconds are a gap. At its end, they are extra zeros, during which the first
	// replica is not ready yet.
	notice = 15 * time.Second
	// maxClockSkew is how much the clocks of two leaders may differ. A later date comes from a clock that was ahead and has since been
	// corrected.
	maxClockSkew = time.Minute
	// holds is how long an observation of zero replicas is valid, so that a workload that is no longer observed does not stay at zero
	// forever. It is twice the time between two observations of a workload that does not change.
	holds = 20 * time.Minute
	// maxPeriods is how many of the newest periods a record keeps. It is enough for two weeks with one period every half hour.
	maxPeriods = 700
	// latest is the last second of the year 9999.
	latest = 253_402_300_799
)

// errChanges means that stored changes are invalid.
var errChanges = errors.New("invalid changes of a workload")

// ZeroPeriods is the set of periods in which a workload was scaled to zero. It is an immutable value. The zero value is
// empty.
type ZeroPeriods struct {
	// changes are the seconds since the epoch at which the workload was scaled to zero (the first, the third, ...) and from zero (the
	// second, the fourth, ...). They ascend. Two are equal if the workload was scaled up again immediately. The last one may be in the
	// future. Until then, the observation of zero replicas is valid.
	changes []int64
}

// NewZeroPeriods restores a record from its Changes. The error says what is invalid.
func NewZeroPeriods(changes []int64) (ZeroPeriods, error) {
	if len(changes) > 2*maxPeriods {
		return ZeroPeriods{}, fmt.Errorf("%d changes: expected at most %d: %w", len(changes), 2*maxPeriods, errChanges)
	}
	before := int64(0)
	for i, at := range changes {
		if at < before || at > latest {
			const text = "change %d is at second %d: expected %d to %d: %w"
			return ZeroPeriods{}, fmt.Errorf(text, i, at, before, int64(latest), errChanges)
		}
		before = at
	}
	return ZeroPeriods{slices.Clone(changes)}, nil
}

// Changes returns the seconds since the epoch at which the workload was scaled to zero and from zero, in turn, the
// oldest first.
func (r ZeroPeriods) Changes() []int64 { return slices.Clone(r.changes) }

// Observe returns the record after an observation, and whether it differs. It takes effect after the notice, so that everyone who has read
// the record by then agrees on every second. An observation of zero replicas is valid for a while, unless it is repeated. Observe drops
// changes from a clock that was ahead.
func (r ZeroPeriods) Observe(zero bool, now time.Time) (after ZeroPeriods, changed bool) {
	known := r.changesUntil(now.Add(holds + maxClockSkew))
	outran := known < len(r.changes)
	r = ZeroPeriods{r.changes[:known]}
	effect, end := now.Add(notice).Unix(), now.Add(holds).Unix()
	n := r.changesUntil(now.Add(notice))
	if n > 0 && n%2 == 0 && r.changes[n-1] == effect {
		n-- // The scale-up has not taken effect yet. It is canceled, or observed again.
	}
	wasZero := n%2 == 1
	switch {
	case !zero && wasZero:
		return r.with(n, effect), true
	case !zero:
		return ZeroPeriods{r.changes[:n]}, outran || n < len(r.changes)
	case !wasZero:
		return r.with(n, max(effect, r.last(n)), end), true
	case n < len(r.changes) && r.changes[n] > now.Add(holds/2).Unix():
		return r, outran
	}
	return r.with(n, end), true
}

// Bounded returns the record, whose period at zero ends if nothing is observed for a while, and whether it differs. Records of
// earlier releases have no end.
func (r ZeroPeriods) Bounded(now time.Time) (after ZeroPeriods, changed bool) {
	if len(r.changes)%2 == 0 {
		return r, false
	}
	return r.with(len(r.changes), max(now.Add(holds).Unix(), r.last(len(r.changes)))), true
}

// with returns a record of the first n changes and further changes. It drops the oldest periods if there are too many.
func (r ZeroPeriods) with(n int, more ...int64) ZeroPeriods {
	drop := max(0, (n+len(more)+1)/2-maxPeriods) * 2
	return ZeroPeriods{append(slices.Clone(r.changes[drop:n]), more...)}
}

// last returns the last of the first n changes; 0 if n is 0.
func (r ZeroPeriods) last(n int) int64 {
	if n == 0 {
		return 0
	}
	return r.changes[n-1]
}

// DropBefore returns the record without the periods that ended before a time.
func (r ZeroPeriods) DropBefore(start time.Time) ZeroPeriods {
	return ZeroPeriods{r.changes[r.changesUntil(start)/2*2:]}
}

// changesUntil returns the number of changes up to a time. It is odd while the workload is scaled to zero.
func (r ZeroPeriods) changesUntil(t time.Time) int {
	n, _ := slices.BinarySearch(r.changes, t.Unix()+1)
	return n
}

// At reports whether the workload was scaled to zero at a time.
func (r ZeroPeriods) At(t time.Time) bool { return r.changesUntil(t)%2 == 1 }

// ZeroSince returns the start of the period that contains a time; zero is false if no period contains it.
func (r ZeroPeriods) ZeroSince(t time.Time) (from time.Time, zero bool) {
	n := r.changesUntil(t)
	if n%2 == 0 {
		return time.Time{}, false
	}
	return time.Unix(r.changes[n-1], 0), true
}

// NewestStep returns the newest step at zero that is not later than a step of the same grid; zero is false if there is none.
func (r ZeroPeriods) NewestStep(t time.Time, step time.Duration) (at time.Time, zero bool) {
	for {
		n := r.changesUntil(t)
		switch {
		case n == 0:
			return time.Time{}, false
		case n%2 == 1:
			return t, true
		}
		// The last step before the workload was scaled up. It may be before the workload was scaled to zero.
		beyond := t.Sub(time.Unix(r.changes[n-1], 0))
		t = t.Add(beyond%step - beyond - step)
	}
}

// Any reports whether the record has a period.
func (r ZeroPeriods) Any() bool { return len(r.changes) > 0 }

// Equal reports whether two records are equal.
func (r ZeroPeriods) Equal(other ZeroPeriods) bool { return slices.Equal(r.changes, other.changes) }
