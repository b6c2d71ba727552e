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
	// Level is the quantile of the starts that is the lead time.
	Level = 0.9
	// Enough is how many starts make a lead time; with fewer a 0.9 quantile is a guess.
	Enough = 10

	// HalfLife is the time in which a start's weight halves. A lead time that grows shows as soon as a tenth of the weight
	// is new, within hours; one that falls when nine tenths are: log2(10) = 3.3 half-lives, a week.
	HalfLife = 48 * time.Hour
	// settle is the age at which starts are counted. The status of a node's pods comes late when the node is busy; a start
	// that comes later than this, after a later one was counted, is lost.
	settle = time.Minute
	// ahead is by how much the clocks of a cluster may differ at most: what is dated later than that was dated by a clock that
	// was ahead, and was set back since.
	ahead = 24 * time.Hour
	// faded is the weight below which a kind of starts does not choose its lead time anew: that of Enough starts that are a
	// half-life old. Where hardly any start waits, how long a node takes is not forgotten for that, nor is it decided by the
	// one start a month that waits all the same.
	faded = Enough * unit / 2
)

// Record is what is known of a workload's starts. It is a value: == compares, an assignment copies. The zero value knows
// nothing. Its fields are there to be kept and put back: see Check.
//
// A start is counted once, whoever counts it: starts are counted in the order in which they became ready, and a record
// remembers how far it has come. So a replica that takes over needs only the record and the starts that it saw itself, and
// what it saw may overlap with what was counted.
type Record struct {
	// Placed and Waited are the starts that found a node, and those that waited for one. Held are those that found one while
	// a warm pool held nodes for them: they say nothing of what happens without it.
	Placed, Held, Waited Population
	// Lead is the lead time without a warm pool, PlacedLead that of starts on nodes that were there, WaitedLead that of those
	// that waited.
	Lead, PlacedLead, WaitedLead Choice
	// Through is the newest second of readiness that was counted, since the epoch. Nothing up to it counts again.
	Through int64
	// Period is the number of half-lives since the epoch to which the weights refer.
	Period int64
}

// Population is a kind of starts.
type Population struct {
	// Count is how many there ever were.
	Count     int64
	Histogram Histogram
}

// ErrRecord means that a record cannot be that of any starts.
var ErrRecord = errors.New("not a record of starts")

// latest is the last second of the year 9999.
const latest = 253_402_300_799

// Check says what is wrong with a record that was put back together from its fields: a number that is negative, or so large
// that reckoning with it could overflow. Whatever passes can be gone on from.
func (r *Record) Check() error {
	const seconds = int64(longest / time.Second)
	for _, c := range []Choice{r.Lead, r.PlacedLead, r.WaitedLead} {
		if !within(c.Value, seconds) || !within(c.Before, seconds) || !within(c.Since, latest) {
			return fmt.Errorf("a lead time of %d s from %d s on, before it %d s, want up to %d s: %w",
				c.Value, c.Since, c.Before, seconds, ErrRecord)
		}
	}
	for _, p := range []*Population{&r.Placed, &r.Held, &r.Waited} {
		if !within(p.Count, heaviest) {
			return fmt.Errorf("%d starts, want 0 to %d: %w", p.Count, int64(heaviest), ErrRecord)
		}
		for i, w := range p.Histogram {
			if !within(w, heaviest) {
				return fmt.Errorf("bucket %d has the weight %d, want 0 to %d: %w", i, w, int64(heaviest), ErrRecord)
			}
		}
	}
	if !within(r.Through, latest) || !within(r.Period, latest/int64(HalfLife/time.Second)) {
		const text = "counted through %d s in half-life %d, want up to %d s: %w"
		return fmt.Errorf(text, r.Through, r.Period, int64(latest), ErrRecord)
	}
	return nil
}

func within(value, most int64) bool { return value >= 0 && value <= most }

// Fold counts the starts that are new and old enough to have settled at a time, and says whether the record is another. Starts
// that cannot be true (see Start.Check) are left out; the order of the rest does not matter. A record that has come further
// than the clock could goes on from now.
func (r *Record) Fold(starts []Start, now time.Time) bool {
	outran := r.Through > now.Add(ahead).Unix()
	if outran {
		r.Through = max(0, now.Add(-settle).Unix())
	}
	due := slices.DeleteFunc(slices.Clone(starts), func(s Start) bool {
		return s.Ready.Unix() <= r.Through || s.Ready.After(now.Add(-settle)) || s.Check() != nil
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
	r.choose(now)
	return true
}

// count adds a start that is not older than any counted.
func (r *Record) count(s Start) {
	r.Through = s.Ready.Unix()
	const length = int64(HalfLife / time.Second)
	period, into := r.Through/length, r.Through%length
	r.Period = min(r.Period, period)
	r.fade(period)
	weight := int64(math.Round(unit * math.Exp2(float64(into)/float64(length))))
	p := r.kindOf(s)
	p.Count = min(p.Count+1, heaviest)
	p.Histogram.add(s.Took(), weight)
}

// kindOf is where a start counts. One that waited although a pool held nodes waited: what it took is what a node takes.
func (r *Record) kindOf(s Start) *Population {
	switch {
	case s.Waited():
		return &r.Waited
	case s.Held:
		return &r.Held
	}
	return &r.Placed
}

// fade halves all weights once for each half-life that has passed, as long as the weight of Enough starts is left: with no
// newer ones, old starts are the best there is, and one start after a long rest must not decide alone. Those on held nodes
// fade by themselves: however long a pool holds, the starts without it are not forgotten.
func (r *Record) fade(period int64) {
	const least = 2 * Enough * unit
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

// choose puts to use the quantiles that have left the lead times in use.
func (r *Record) choose(now time.Time) {
	if all := r.Placed.plus(&r.Waited); all.Count >= Enough {
		r.Lead.take(all.Histogram.quantile(Level), now)
	}
	r.chooseParts(now)
}

func (r *Record) chooseParts(now time.Time) {
	if there := r.onNodes(); there.enough() {
		r.PlacedLead.take(there.Histogram.quantile(Level), now)
	}
	if r.Waited.enough() {
		r.WaitedLead.take(r.Waited.Histogram.quantile(Level), now)
	}
}

// onNodes are the starts on nodes that were there: those on held ones alone where they are enough, as they are what a start
// under a pool is like, else all.
func (r *Record) onNodes() Population {
	if r.Held.enough() {
		return r.Held
	}
	return r.Held.plus(&r.Placed)
}

// enough says whether a lead time may follow from a kind of starts.
func (p *Population) enough() bool { return p.Count >= Enough && p.Histogram.total() >= faded }

// plus is both populations together.
func (p *Population) plus(other *Population) Population {
	return Population{Count: p.Count + other.Count, Histogram: p.Histogram.plus(&other.Histogram)}
}

// At is the lead time in use at a time without a warm pool, 0 where there is none. Everyone who has the record and the time
// gets the same.
func (r *Record) At(now time.Time) time.Duration { return r.Lead.at(now) }

// Since is when the newest lead time is in use from; At answers the same for all times before, and for all from then on.
func (r *Record) Since() time.Time { return time.Unix(r.Lead.Since, 0) }

// Starts is how many starts were counted.
func (r *Record) Starts() int64 { return r.free() + r.Held.Count }

// free is how many starts there were without a warm pool.
func (r *Record) free() int64 { return r.Placed.Count + r.Waited.Count }
