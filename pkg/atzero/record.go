package atzero

import (
	"math"
	"slices"
	"sort"
	"time"
)

const (
	// notice is the time between a look and its effect, for all replicas to hear of it: a write of a status may take as
	// long. The seconds until then are a gap at the beginning of a time at zero, and too many zeros at its end, where the
	// first replica is not ready yet either.
	notice = 15 * time.Second
	// most is how many times at zero a record keeps, the newest: two weeks of one every half hour.
	most = 700
	// ever is the end of a time at zero that has not ended.
	ever = math.MaxInt64
)

// Record is when a workload stood at zero replicas. It is a value that is never changed: what changes it returns another.
// The zero value knows of no such time.
type Record struct {
	// times are disjoint and ascend.
	times []span
}

// span is from one second since the epoch until before another.
type span struct{ from, until int64 }

// Look is the record after a look at the workload at a time, and whether it is another. It takes effect shortly after the
// look, so that everyone who has the record by then says the same of every second.
func (r Record) Look(zero bool, now time.Time) (after Record, changed bool) {
	effect := now.Add(notice).Unix()
	last := len(r.times) - 1
	asleep := last >= 0 && r.times[last].until == ever
	if zero == asleep {
		return r, false
	}
	times := slices.Clone(r.times)
	switch {
	case !zero:
		times[last].until = max(effect, times[last].from)
	case last >= 0 && times[last].until >= effect:
		times[last].until = ever
	default:
		times = append(times, span{effect, ever})
	}
	return Record{times[max(0, len(times)-most):]}, true
}

// Since is the record without the times at zero that ended before a time.
func (r Record) Since(start time.Time) Record {
	i := sort.Search(len(r.times), func(i int) bool { return r.times[i].until > start.Unix() })
	return Record{r.times[i:]}
}

// At says whether the workload stood at zero at a time.
func (r Record) At(t time.Time) bool {
	_, zero := r.From(t)
	return zero
}

// From is the beginning of the time at zero that another lies in; zero is false where it lies in none.
func (r Record) From(t time.Time) (from time.Time, zero bool) {
	i := r.begun(t)
	if i < 0 || t.Unix() >= r.times[i].until {
		return time.Time{}, false
	}
	return time.Unix(r.times[i].from, 0), true
}

// begun is the last time at zero that has begun at a time, -1 where none has.
func (r Record) begun(t time.Time) int {
	return sort.Search(len(r.times), func(i int) bool { return r.times[i].from > t.Unix() }) - 1
}

// Newest is the newest step at zero, no later than a step of the same grid; zero is false where there is none.
func (r Record) Newest(t time.Time, step time.Duration) (at time.Time, zero bool) {
	for i := r.begun(t); i >= 0; i-- {
		if t.Unix() >= r.times[i].until {
			// The last step before the end of this time, which may lie before its beginning.
			beyond := t.Sub(time.Unix(r.times[i].until, 0))
			t = t.Add(beyond%step - beyond - step)
		}
		if t.Unix() >= r.times[i].from {
			return t, true
		}
	}
	return time.Time{}, false
}

// Any says whether the record knows of a time at zero.
func (r Record) Any() bool { return len(r.times) > 0 }

// Equal says whether two records say the same.
func (r Record) Equal(other Record) bool { return slices.Equal(r.times, other.times) }
