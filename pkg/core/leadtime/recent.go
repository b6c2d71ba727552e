package leadtime

import (
	"cmp"
	"slices"
	"time"
)

const (
	// maxAge is how much older than the newest start a kept start may be: long enough for a record that is written late
	// because there is no leader or the API server is down.
	maxAge = time.Hour
	// maxRecent limits the starts of one workload, at 96 bytes each. A rollout of 4,000 replicas within the hour loses
	// some.
	maxRecent = 4096
)

// RecentStarts are the newest observed starts of a workload's pods, for records that have not counted them yet (a
// workload may have several Forecasts, each with its own record). The zero value is empty.
type RecentStarts struct {
	starts []Start
}

// Add adds a valid start (see Start.Validate). It drops starts that are too old or too many, and those dated by a clock
// that was ahead.
func (r *RecentStarts) Add(s Start) {
	if s.Validate() != nil {
		return
	}
	at, _ := slices.BinarySearchFunc(r.starts, s, func(a, b Start) int {
		return cmp.Or(a.Ready.Compare(b.Ready), a.Created.Compare(b.Created))
	})
	r.starts = slices.Insert(r.starts, at, s)
	wrong, _ := slices.BinarySearchFunc(r.starts, s.Ready.Add(maxClockSkew), func(a Start, t time.Time) int {
		return a.Ready.Compare(t)
	})
	r.starts = slices.Delete(r.starts, wrong, len(r.starts))
	oldest := r.starts[len(r.starts)-1].Ready.Add(-maxAge)
	drop := max(len(r.starts)-maxRecent, 0)
	for r.starts[drop].Ready.Before(oldest) {
		drop++
	}
	r.starts = slices.Delete(r.starts, 0, drop)
}

// List returns a copy of them, the oldest first.
func (r *RecentStarts) List() []Start { return slices.Clone(r.starts) }
