package demand

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

const (
	// FallDoubt is how long a sudden low is doubted: the value before it is held. FallLearnt is how long a low must last until it is
	// learnt. In between it is served and not learnt, so a fault of some minutes leaves no trace.
	FallDoubt  = 2 * time.Minute
	FallLearnt = 10 * time.Minute
)

const (
	// lowShare: a demand below this share of the lowest demand of the last fallMemory has fallen.
	lowShare   = 0.9
	fallMemory = 5 * time.Minute
	// habitualFalls falls as deep as this one, each counting half as much a day later, are a habit of the demand: noise, or jobs
	// that end every hour.
	habitualFalls = 12.0
)

// fallClasses are the depths by which falls are counted: each class reaches a tenth lower than the one before, the last one to 0.
const fallClasses = 20

// falls holds sudden lows back: falls that the demand has not shown before, and any fall after a gap. What a source reads for a minute
// after a restart, or while a part of its targets is away, is only a part of the total.
//
//	0 to 2 minutes    doubted: the low waits
//	2 to 10 minutes   followed: it still waits, and the forecasts are multiplied by the share that is left (Forecaster.decideFallen);
//	                  one that looks like an outage is not followed
//	10 minutes        learnt: all lows pass
//
// If the demand recovers before that, the lows pass as dips, which count as gaps.
//
// Worked, with steps of 30 s: of 100, 10, 10, 100 both tens are dips. Of 100 and then 10 for an hour, the first four tens are doubted,
// from the fifth on they are followed, and the 21st passes together with all before it.
type falls struct {
	// doubt and learnt are FallDoubt and FallLearnt in steps.
	doubt, learnt int
	// lowest is the negated minimum of the newest known samples, as many as fill fallMemory; known is how many there are.
	lowest      *series.TrailingMax
	known, full int
	// seen counts the falls of each class, with a half-life of a day, as of seenAt. deepest is the class of the newest fall, which was
	// last seen at the step `last`.
	seen          [fallClasses]float64
	keep          float64
	seenAt        int
	deepest, last int
	// waiting are the lows that are held back with the gaps between them, lows is the number of lows since the newest sample that was
	// believed, and first is the step of the first of them.
	waiting, spare []Reading
	lows, first    int
	// gap is the number of steps without a demand since the newest sample that was believed.
	gap, step int
}

func newFalls(step time.Duration) falls {
	steps := func(d time.Duration) int { return max(1, int((d+step-1)/step)) }
	f := falls{doubt: steps(FallDoubt), learnt: steps(FallLearnt), full: steps(fallMemory), deepest: -1}
	f.lowest = series.NewTrailingMax(f.full)
	f.keep = math.Exp2(-float64(step) / float64(season))
	return f
}

// add judges the next reading. It returns the readings that waited and are decided now, the oldest first and valid until the next
// step, and whether the new one waits.
func (f *falls) add(r *Reading) (decided []Reading, waits bool) {
	f.step++
	low := f.low(r)
	switch {
	case !(r.Demand >= 0) || math.IsInf(r.Demand, 0) || r.Incomplete && low: // NaN is not.
		return f.addGap(r)
	case r.ScaledToZero:
		decided = f.decide(true)
		f.learn(r.Demand)
		return decided, false
	}
	f.count(r)
	if !low {
		decided = f.decide(false)
		f.lows = 0
		if !f.low(r) { // After a long dip it comes after a gap.
			f.learn(r.Demand)
			return decided, false
		}
	}
	if f.lows == 0 {
		f.first = f.step
	}
	f.lows++
	if f.lows > 1 && f.step-f.first >= f.learnt {
		decided = f.decide(true)
		f.learn(r.Demand)
		return decided, false
	}
	f.waiting = append(f.waiting, *r)
	if f.lows == f.doubt+1 {
		f.markDips()
	}
	return decided, true
}

// addGap adds a step without a demand, which waits with the lows before it. Before these are followed, a gap of FallDoubt ends the wait.
func (f *falls) addGap(r *Reading) (decided []Reading, waits bool) {
	isKnown := func(r Reading) bool { return !math.IsNaN(r.Demand) }
	if n := len(f.waiting); n > 0 {
		switch {
		case f.follows():
			if f.step-f.first >= f.learnt {
				decided = f.decide(true)
			}
		case n >= f.doubt && !slices.ContainsFunc(f.waiting[n-f.doubt:], isKnown):
			decided = f.decide(false)
		}
	}
	if len(f.waiting) > 0 {
		f.waiting = append(f.waiting, *r)
		return nil, true
	}
	f.gap++
	return decided, false
}

// follows reports whether the lows that wait have lasted long enough to be served.
func (f *falls) follows() bool { return len(f.waiting) > 0 && f.lows > f.doubt }

// share is what is left of the demand: the highest low that waits as a multiple of the lowest demand before.
func (f *falls) share() float64 {
	share := 0.0
	for i := range f.waiting {
		if r := &f.waiting[i]; !math.IsNaN(r.believed()) {
			share = math.Max(share, f.ratio(r))
		}
	}
	return math.Min(share, 1)
}

// markDips marks the lows that are far below the level that has lasted: of 100, 10, 10, 85, 85, 85 only 85 is the new level.
func (f *falls) markDips() {
	lasted := 0.0
	for i := range f.waiting {
		lasted = math.Max(lasted, f.waiting[i].believed())
	}
	for i := range f.waiting {
		f.waiting[i].Dip = f.waiting[i].Demand < lowShare*lasted
	}
}

// decide ends the wait: what waits is learnt, or all of it is a dip.
func (f *falls) decide(learnt bool) []Reading {
	decided := f.waiting
	f.waiting, f.spare = f.spare[:0], f.waiting
	for i := range decided {
		r := &decided[i]
		r.Dip = r.Dip || !learnt && !math.IsNaN(r.Demand)
		if v := r.believed(); math.IsNaN(v) || r.Incomplete {
			f.gap++
		} else {
			f.learn(v)
		}
	}
	return decided
}

// learn adds a demand that is believed.
func (f *falls) learn(v float64) {
	f.lows, f.gap = 0, 0
	f.lowest.Push(-v)
	f.known = min(f.known+1, f.full)
}

// ratio is a demand as a multiple of the lowest recent one, as far as no event announces less; 1 where nothing is known to compare with.
func (f *falls) ratio(r *Reading) float64 {
	lowest := -f.lowest.Value()
	if r.Times > 0 && r.Times < 1 {
		lowest *= r.Times
	}
	if f.known < f.full || !(lowest > 0) {
		return 1
	}
	return r.Demand / lowest
}

// low reports whether a demand is a sudden low that is doubted.
func (f *falls) low(r *Reading) bool {
	class := fallClass(f.ratio(r))
	return class >= 0 && f.learnt >= 2*f.doubt && !r.ScaledToZero &&
		(f.gap >= f.doubt || f.seenBelow(class) < habitualFalls)
}

// fallClass is the class of a fall to a share of the demand, −1 for none.
func fallClass(ratio float64) int {
	switch {
	case !(ratio < lowShare):
		return -1
	case ratio <= 0:
		return fallClasses - 1
	}
	return min(fallClasses-1, int(math.Log(ratio/lowShare)/math.Log(lowShare)))
}

// seenBelow is how many falls of a class and of deeper ones count.
func (f *falls) seenBelow(class int) float64 {
	n := 0.0
	for _, seen := range f.seen[class:] {
		n += seen
	}
	return n * math.Pow(f.keep, float64(f.step-f.seenAt))
}

// count counts a fall, once for FallDoubt by its deepest sample. One after a gap tells nothing of the demand.
func (f *falls) count(r *Reading) {
	class := fallClass(f.ratio(r))
	if class < 0 || f.gap >= f.doubt {
		return
	}
	if f.step-f.last > f.doubt {
		f.deepest = -1
	}
	f.last = f.step
	if class <= f.deepest {
		return
	}
	keep := math.Pow(f.keep, float64(f.step-f.seenAt))
	for i := range f.seen {
		f.seen[i] *= keep
	}
	if f.deepest >= 0 {
		f.seen[f.deepest] = math.Max(0, f.seen[f.deepest]-1)
	}
	f.seen[class]++
	f.seenAt, f.deepest = f.step, class
}
