package leadtime

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	// Level is the quantile of the starts that is the lead time.
	Level = 0.9
	// Enough is how many starts make a lead time; with fewer a 0.9 quantile is a guess.
	Enough = 10

	// halfLife is the time in which a start's weight halves. A lead time that grows shows as soon as a tenth of the weight
	// is new, within hours; one that falls when nine tenths are: log2(10) = 3.3 half-lives, a week.
	halfLife = 48 * time.Hour
	// settle is the age at which starts are counted. The status of a node's pods comes late when the node is busy; a start
	// that comes later than this, after a later one was counted, is lost.
	settle = time.Minute
	// faded is the weight below which a kind of starts does not choose its lead time anew: that of Enough starts that are a
	// half-life old. Where a warm pool works no start waits, and how long a node takes must not be forgotten for that, nor
	// be decided by the one start a month that waits all the same.
	faded = Enough * unit / 2
)

// Record is what is known of a workload's starts. It is a value: == compares, an assignment copies. The zero value knows
// nothing.
//
// A start is counted once, whoever counts it: starts are counted in the order in which they became ready, and a record
// remembers how far it has come. So a replica that takes over needs only the record and the starts that it saw itself, and
// what it saw may overlap with what was counted.
type Record struct {
	// placed and waited are the starts that found a node, and those that waited for one; all is the lead time of both.
	placed, waited population
	all            choice
	// through is the newest second of readiness that was counted, since the epoch. Nothing up to it counts again.
	through int64
	// period is the number of half-lives since the epoch to which the weights refer.
	period int64
}

// population is a kind of starts.
type population struct {
	// count is how many there ever were.
	count     int64
	histogram histogram
	// choice is the lead time of this kind alone.
	choice choice
}

// Fold counts the starts that are new and old enough to have settled at a time, and says whether there were any. Starts
// that cannot be true (see Start.Check) are left out; the order of the rest does not matter.
func (r *Record) Fold(starts []Start, now time.Time) bool {
	due := slices.DeleteFunc(slices.Clone(starts), func(s Start) bool {
		return s.Ready.Unix() <= r.through || s.Ready.After(now.Add(-settle)) || s.Check() != nil
	})
	if len(due) == 0 {
		return false
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
	r.through = s.Ready.Unix()
	const length = int64(halfLife / time.Second)
	period, into := r.through/length, r.through%length
	r.fade(period)
	weight := int64(math.Round(unit * math.Exp2(float64(into)/float64(length))))
	p := &r.placed
	if s.Waited() {
		p = &r.waited
	}
	p.count++
	p.histogram.add(s.Took(), weight)
}

// fade halves all weights once for each half-life that has passed, as long as the weight of Enough starts is left: with no
// newer ones, old starts are the best there is, and one start after a long rest must not decide alone.
func (r *Record) fade(period int64) {
	for ; r.period < period; r.period++ {
		if r.placed.histogram.total()+r.waited.histogram.total() < 2*Enough*unit {
			r.period = period
			return
		}
		r.placed.histogram.halve()
		r.waited.histogram.halve()
	}
}

// choose puts to use the quantiles that have left the lead times in use.
func (r *Record) choose(now time.Time) {
	if r.Starts() < Enough {
		return
	}
	all := r.placed.histogram.plus(&r.waited.histogram)
	r.all.take(all.quantile(Level), now)
	r.placed.choose(now)
	r.waited.choose(now)
}

func (p *population) choose(now time.Time) {
	if p.count >= Enough && p.histogram.total() >= faded {
		p.choice.take(p.histogram.quantile(Level), now)
	}
}

// At is the lead time in use at a time, 0 where there is none. Everyone who has the record and the time gets the same.
func (r *Record) At(now time.Time) time.Duration { return r.all.at(now) }

// Since is when the newest lead time is in use from; At answers the same for all times before, and for all from then on.
func (r *Record) Since() time.Time { return time.Unix(r.all.since, 0) }

// Starts is how many starts were counted.
func (r *Record) Starts() int64 { return r.placed.count + r.waited.count }

// Waited is how many of them waited for a node.
func (r *Record) Waited() int64 { return r.waited.count }
