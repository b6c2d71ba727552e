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
	// half-life old. Where hardly any start waits, how long a node takes is not forgotten for that, nor is it decided by the
	// one start a month that waits all the same.
	faded = Enough * unit / 2
)

// Record is what is known of a workload's starts. It is a value: == compares, an assignment copies. The zero value knows
// nothing.
//
// A start is counted once, whoever counts it: starts are counted in the order in which they became ready, and a record
// remembers how far it has come. So a replica that takes over needs only the record and the starts that it saw itself, and
// what it saw may overlap with what was counted.
type Record struct {
	// placed and waited are the starts that found a node, and those that waited for one. Held are those that found one while
	// a warm pool held nodes for them: they say nothing of what happens without it.
	placed, held, waited population
	// all is the lead time without a warm pool, there that of starts on nodes that were there, node that of those that waited.
	all, there, node choice
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
	p := r.kindOf(s)
	p.count++
	p.histogram.add(s.Took(), weight)
}

// kindOf is where a start counts. One that waited although a pool held nodes waited: what it took is what a node takes.
func (r *Record) kindOf(s Start) *population {
	switch {
	case s.Waited():
		return &r.waited
	case s.Held:
		return &r.held
	}
	return &r.placed
}

// fade halves all weights once for each half-life that has passed, as long as the weight of Enough starts is left: with no
// newer ones, old starts are the best there is, and one start after a long rest must not decide alone. Those on held nodes
// fade by themselves: however long a pool holds, the starts without it are not forgotten.
func (r *Record) fade(period int64) {
	const least = 2 * Enough * unit
	for ; r.period < period; r.period++ {
		free := r.placed.histogram.total()+r.waited.histogram.total() >= least
		held := r.held.histogram.total() >= least
		if !free && !held {
			r.period = period
			return
		}
		if free {
			r.placed.histogram.halve()
			r.waited.histogram.halve()
		}
		if held {
			r.held.histogram.halve()
		}
	}
}

// choose puts to use the quantiles that have left the lead times in use.
func (r *Record) choose(now time.Time) {
	if all := r.placed.plus(&r.waited); all.count >= Enough {
		r.all.take(all.histogram.quantile(Level), now)
	}
	r.chooseParts(now)
}

func (r *Record) chooseParts(now time.Time) {
	if there := r.onNodes(); there.enough() {
		r.there.take(there.histogram.quantile(Level), now)
	}
	if r.waited.enough() {
		r.node.take(r.waited.histogram.quantile(Level), now)
	}
}

// onNodes are the starts on nodes that were there: those on held ones alone where they are enough, as they are what a start
// under a pool is like, else all.
func (r *Record) onNodes() population {
	if r.held.enough() {
		return r.held
	}
	return r.held.plus(&r.placed)
}

// enough says whether a lead time may follow from a kind of starts.
func (p *population) enough() bool { return p.count >= Enough && p.histogram.total() >= faded }

// plus is both populations together.
func (p *population) plus(other *population) population {
	return population{count: p.count + other.count, histogram: p.histogram.plus(&other.histogram)}
}

// At is the lead time in use at a time without a warm pool, 0 where there is none. Everyone who has the record and the time
// gets the same.
func (r *Record) At(now time.Time) time.Duration { return r.all.at(now) }

// Since is when the newest lead time is in use from; At answers the same for all times before, and for all from then on.
func (r *Record) Since() time.Time { return time.Unix(r.all.since, 0) }

// Starts is how many starts were counted.
func (r *Record) Starts() int64 { return r.free() + r.held.count }

// Waited is how many of them waited for a node.
func (r *Record) Waited() int64 { return r.waited.count }

// free is how many starts there were without a warm pool.
func (r *Record) free() int64 { return r.placed.count + r.waited.count }
