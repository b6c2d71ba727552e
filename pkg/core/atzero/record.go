package atzero

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// notice is the time between a look and its effect, for all replicas to hear of it: a write of a status may take as
	// long. The seconds until then are a gap at the beginning of a time at zero, and too many zeros at its end, where the
	// first replica is not ready yet either.
	notice = 15 * time.Second
	// ahead is by how much the clocks of two leaders may differ: what is dated later than that was dated by a clock that was
	// ahead, and was set back since.
	ahead = time.Minute
	// most is how many times at zero a record keeps, the newest: two weeks of one every half hour.
	most = 700
	// latest is the last second of the year 9999.
	latest = 253_402_300_799
)

// ErrChanges means that no workload can have come to zero replicas and left it at the given seconds.
var ErrChanges = errors.New("not the changes of a workload")

// Record is when a workload stood at zero replicas. It is a value that is never changed: what changes it returns another.
// The zero value knows of no such time.
type Record struct {
	// changes are the seconds since the epoch at which the workload came to zero (the first, the third, ...) and left it
	// (the second, the fourth, ...). They ascend; two are equal where it left as soon as it came.
	changes []int64
}

// Of is the record with the given changes, as Changes returns them. The error says what is wrong with them.
func Of(changes []int64) (Record, error) {
	if len(changes) > 2*most {
		return Record{}, fmt.Errorf("%d changes, want at most %d: %w", len(changes), 2*most, ErrChanges)
	}
	before := int64(0)
	for i, at := range changes {
		if at < before || at > latest {
			const text = "change %d is at %d s, want %d to %d s: %w"
			return Record{}, fmt.Errorf(text, i, at, before, int64(latest), ErrChanges)
		}
		before = at
	}
	return Record{slices.Clone(changes)}, nil
}

// Changes are the seconds since the epoch at which the workload came to zero and left it, in turn, the oldest first.
func (r Record) Changes() []int64 { return slices.Clone(r.changes) }

// Look is the record after a look at the workload at a time, and whether it is another. It takes effect shortly after the
// look, so that everyone who has the record by then says the same of every second. What a clock that was ahead has left is
// forgotten.
func (r Record) Look(zero bool, now time.Time) (after Record, changed bool) {
	n := r.until(now.Add(notice + ahead))
	outran := n < len(r.changes)
	r = Record{r.changes[:n]}
	if asleep := n%2 == 1; zero == asleep {
		return r, outran
	}
	effect, last := now.Add(notice).Unix(), int64(0)
	if n > 0 {
		last = r.changes[n-1]
	}
	if zero && n > 0 && last >= effect {
		return Record{r.changes[:n-1]}, true // It has not left yet, and does not.
	}
	drop := max(0, (n+2)/2-most) * 2
	return Record{append(slices.Clone(r.changes[drop:]), max(effect, last))}, true
}

// Since is the record without the times at zero that ended before a time.
func (r Record) Since(start time.Time) Record {
	return Record{r.changes[r.until(start)/2*2:]}
}

// until is the number of changes up to a time. It is odd while the workload stands at zero.
func (r Record) until(t time.Time) int {
	n, _ := slices.BinarySearch(r.changes, t.Unix()+1)
	return n
}

// At says whether the workload stood at zero at a time.
func (r Record) At(t time.Time) bool { return r.until(t)%2 == 1 }

// From is the beginning of the time at zero that another lies in; zero is false where it lies in none.
func (r Record) From(t time.Time) (from time.Time, zero bool) {
	n := r.until(t)
	if n%2 == 0 {
		return time.Time{}, false
	}
	return time.Unix(r.changes[n-1], 0), true
}

// Newest is the newest step at zero, no later than a step of the same grid; zero is false where there is none.
func (r Record) Newest(t time.Time, step time.Duration) (at time.Time, zero bool) {
	for {
		n := r.until(t)
		switch {
		case n == 0:
			return time.Time{}, false
		case n%2 == 1:
			return t, true
		}
		// The last step before the workload left zero, which may lie before it came.
		beyond := t.Sub(time.Unix(r.changes[n-1], 0))
		t = t.Add(beyond%step - beyond - step)
	}
}

// Any says whether the record knows of a time at zero.
func (r Record) Any() bool { return len(r.changes) > 0 }

// Equal says whether two records say the same.
func (r Record) Equal(other Record) bool { return slices.Equal(r.changes, other.changes) }
