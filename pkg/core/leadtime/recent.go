package leadtime

import (
	"cmp"
	"slices"
	"time"
)

const (
	// keep is how much older than the newest start one may be and still be there: long enough for a record that is
	// written late, because there is no leader or the API server is down.
	keep = time.Hour
	// most bounds the starts of one workload, at 96 bytes each. A rollout of 4,000 replicas within the hour loses some.
	most = 4096
)

// Recent are the newest starts that were seen of a workload's pods, for the records that have not counted them yet (a
// workload may have several Forecasts, each with its own record). The zero value has none.
type Recent struct {
	starts []Start
}

// Add keeps a start, unless it is nonsense (see Start.Check), and drops what is too old or too much, and what was dated by a
// clock that was ahead.
func (r *Recent) Add(s Start) {
	if s.Check() != nil {
		return
	}
	at, _ := slices.BinarySearchFunc(r.starts, s, func(a, b Start) int {
		return cmp.Or(a.Ready.Compare(b.Ready), a.Created.Compare(b.Created))
	})
	r.starts = slices.Insert(r.starts, at, s)
	wrong, _ := slices.BinarySearchFunc(r.starts, s.Ready.Add(ahead), func(a Start, t time.Time) int {
		return a.Ready.Compare(t)
	})
	r.starts = slices.Delete(r.starts, wrong, len(r.starts))
	oldest := r.starts[len(r.starts)-1].Ready.Add(-keep)
	drop := max(len(r.starts)-most, 0)
	for r.starts[drop].Ready.Before(oldest) {
		drop++
	}
	r.starts = slices.Delete(r.starts, 0, drop)
}

// List is a copy of them, the oldest first.
func (r *Recent) List() []Start { return slices.Clone(r.starts) }

// Newest is when the newest of them was ready, zero where there is none.
func (r *Recent) Newest() time.Time {
	if len(r.starts) == 0 {
		return time.Time{}
	}
	return r.starts[len(r.starts)-1].Ready
}
