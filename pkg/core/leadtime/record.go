package leadtime

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// Quantile is the quantile of the starts' durations that is the lead time.
	Quantile = 0.9
	// minStarts is how many starts a lead time needs; the 0.9 quantile of fewer is a guess.
	minStarts = 10

	// HalfLife is the half-life of a start's weight. A longer lead time shows once a tenth of the weight is new, within
	// hours; a shorter one once nine tenths are: log2(10) = 3.3 half-lives, a week.
	HalfLife = 48 * time.Hour
	// settle is the age at which starts are counted. A busy node reports its pods' status late; a start that is
	// reported after a later one was counted is lost.
	settle = time.Minute
	// maxClockSkew is the largest difference between the clocks of a cluster. A later date comes from a clock that was
	// ahead and has been corrected since.
	maxClockSkew = 24 * time.Hour
	// maxLonger is how many times the lead time in use of its kind a start counts as, at most: a rollout that hung for an hour must
	// not lengthen the lead time to an hour for a week. Where starts have become so much slower, the lead time follows in a few rounds.
	maxLonger = 4
	// minWeight is the weight below which a kind of starts keeps its lead time: that of minStarts starts one half-life
	// old. Where hardly any start waits, the node's lead time is not forgotten, and the one start a month that does
	// wait does not decide it.
	minWeight = minStarts * unit / 2
)

// Record holds the measured starts of a workload. It is a value: == compares, an assignment copies. The zero value is
// empty. Its fields are exported to be stored and restored: see Validate.
//
// A start is counted once, whichever adapter replica counts it: starts are counted in the order in which they became
// ready, and a record holds how far it has counted. A replica that takes over needs only the record and the starts that
// it observed itself; those may overlap with counted ones.
type Record struct {
	// Placed are the starts that found a node, Waited those that waited for one, Held those that found a node while a
	// warm pool held nodes: they tell nothing about starts without the pool.
	Placed, Held, Waited Population
	// Lead is the lead time without a warm pool, PlacedLead that of starts on existing nodes, WaitedLead that of starts
	// that waited for a node.
	Lead, PlacedLead, WaitedLead InUse
	// Through is the newest second of readiness that was counted, since the epoch. Starts up to it do not count again.
	Through int64
	// Period is the number of half-lives since the epoch that the weights refer to.
	Period int64
}

// Population holds the starts of one kind.
type Population struct {
	// Count is the number of starts ever counted.
	Count     int64
	Histogram Histogram
}

// ErrRecord means that a stored record is invalid.
var ErrRecord = errors.New("invalid record of starts")

// latest is the last second of the year 9999.
const latest = 253_402_300_799

// Validate returns the first problem of a restored record: a number that is negative, or so large that arithmetic could
// overflow.
func (r *Record) Validate() error {
	const seconds = int64(longest / time.Second)
	for _, c := range []InUse{r.Lead, r.PlacedLead, r.WaitedLead} {
		if !within(c.Value, seconds) || !within(c.Previous, seconds) || !within(c.Since, latest) ||
			!within(c.Median, seconds) || !within(c.PreviousMedian, seconds) {
			return fmt.Errorf(
				"lead time %d s (median %d s) since second %d, previously %d s (median %d s): expected 0 to %d s: %w",
				c.Value,
				c.Median,
				c.Since,
				c.Previous,
				c.PreviousMedian,
				seconds,
				ErrRecord,
			)
		}
	}
	for _, p := range []*Population{&r.Placed, &r.Held, &r.Waited} {
		if !within(p.Count, maxWeight) {
			return fmt.Errorf("%d starts: expected 0 to %d: %w", p.Count, int64(maxWeight), ErrRecord)
		}
		for i, w := range p.Histogram {
			if !within(w, maxWeight) {
				return fmt.Errorf("bucket %d has weight %d: expected 0 to %d: %w", i, w, int64(maxWeight), ErrRecord)
			}
		}
	}
	if !within(r.Through, latest) || !within(r.Period, latest/int64(HalfLife/time.Second)) {
		const text = "counted through second %d in half-life %d: expected at most second %d: %w"
		return fmt.Errorf(text, r.Through, r.Period, int64(latest), ErrRecord)
	}
	return nil
}

func within(value, most int64) bool { return value >= 0 && value <= most }

// AddStarts counts the starts that are new and at least a minute old, and reports whether the record changed. Invalid
// starts (see Start.Validate) are ignored; the order of the rest does not matter. A record that is ahead of the clock
// continues from now.
func (r *Record) AddStarts(starts []Start, now time.Time) bool {
	outran := r.Through > now.Add(maxClockSkew).Unix()
	if outran {
		r.Through = max(0, now.Add(-settle).Unix())
	}
	due := slices.DeleteFunc(slices.Clone(starts), func(s Start) bool {
		return s.Ready.Unix() <= r.Through || s.Ready.After(now.Add(-settle)) || s.Validate() != nil
	})
	if len(due) == 0 {
		return outran
	}
	slices.SortFunc(due, func(a, b Start) int {
		return cmp.Or(a.Ready.Compare(b.Ready), a.Created.Compare(b.Created))
	})
	for _, s := range due {
		r.count(s)
	}
	r.updateLeads(now)
	return true
}

// count adds a start that is not older than any counted one.
func (r *Record) count(s Start) {
	r.Through = s.Ready.Unix()
	const length = int64(HalfLife / time.Second)
	period, into := r.Through/length, r.Through%length
	r.Period = min(r.Period, period)
	r.fade(period)
	weight := int64(math.Round(unit * math.Exp2(float64(into)/float64(length))))
	p, inUse := r.populationOf(s)
	took := s.took()
	if most := maxLonger * time.Duration(inUse.Value) * time.Second; most > 0 {
		took = min(took, most)
	}
	p.Count = min(p.Count+1, maxWeight)
	p.Histogram.add(took, weight)
}

// populationOf returns the population that a start counts in, and the lead time of its kind. A start that waited although a pool
// held nodes counts as waited: its duration includes a node's.
func (r *Record) populationOf(s Start) (*Population, *InUse) {
	switch {
	case s.Waited():
		return &r.Waited, &r.WaitedLead
	case s.Held:
		return &r.Held, &r.PlacedLead
	}
	return &r.Placed, &r.PlacedLead
}

// fade halves all weights for each half-life that has passed while the weight of minStarts starts is left: without
// newer ones, old starts are the best estimate, and one start after a long pause must not decide alone. Starts on held
// nodes fade separately: however long a pool holds nodes, the starts without it are not forgotten.
func (r *Record) fade(period int64) {
	const least = 2 * minStarts * unit
	for ; r.Period < period; r.Period++ {
		free := r.Placed.Histogram.total()+r.Waited.Histogram.total() >= least
		held := r.Held.Histogram.total() >= least
		if !free && !held {
			r.Period = period
			return
		}
		if free {
			r.Placed.Histogram.halve()
			r.Waited.Histogram.halve()
		}
		if held {
			r.Held.Histogram.halve()
		}
	}
}

// updateLeads updates the lead times in use.
func (r *Record) updateLeads(now time.Time) {
	if all := r.Placed.plus(&r.Waited); all.Count >= minStarts {
		r.Lead.update(&all.Histogram, now)
	}
	r.updatePartLeads(now)
}

func (r *Record) updatePartLeads(now time.Time) {
	if there := r.onExistingNodes(); there.enough() {
		r.PlacedLead.update(&there.Histogram, now)
	}
	if r.Waited.enough() {
		r.WaitedLead.update(&r.Waited.Histogram, now)
	}
}

// onExistingNodes returns the starts on existing nodes: those on held nodes alone where they are enough, because they
// show what a start with a pool takes; otherwise all.
func (r *Record) onExistingNodes() Population {
	if r.Held.enough() {
		return r.Held
	}
	return r.Held.plus(&r.Placed)
}

// enough reports whether a kind of starts may change its lead time.
func (p *Population) enough() bool { return p.Count >= minStarts && p.Histogram.total() >= minWeight }

// plus returns the sum of two populations.
func (p *Population) plus(other *Population) Population {
	return Population{Count: p.Count + other.Count, Histogram: p.Histogram.plus(&other.Histogram)}
}

// LeadTime returns the lead time without a warm pool that is in use at a time, 0 without one. It depends on the record
// and the time alone.
func (r *Record) LeadTime(now time.Time) time.Duration {
	lead, _ := r.Lead.at(now)
	return lead
}

// MedianLeadTime returns the median of the start times.
func (r *Record) MedianLeadTime(now time.Time) time.Duration {
	_, median := r.Lead.at(now)
	return median
}

// Starts returns the number of counted starts.
func (r *Record) Starts() int64 { return r.withoutPool() + r.Held.Count }

// withoutPool returns the number of starts without a warm pool.
func (r *Record) withoutPool() int64 { return r.Placed.Count + r.Waited.Count }
