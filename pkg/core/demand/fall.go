package demand

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

const (
	// FallDoubt is how long a sudden low is doubted. Meanwhile, the value before it is held. FallLearnt is how long a low must last until
	// the models learn it. Between the two, the low is served but not learned, so that a fault of a few minutes leaves no trace.
	FallDoubt  = 2 * time.Minute
	FallLearnt = 10 * time.Minute
)

const (
	// lowShare is the share of the lowest demand of the last fallMemory below which a demand has fallen.
	lowShare   = 0.9
	fallMemory = 5 * time.Minute
	// habitualFalls is the number of earlier falls, at least as deep, that makes a fall usual for the demand. Such falls are noise, or jobs
	// that end every hour. Each fall counts half as much a day later.
	habitualFalls = 12.0
)

// fallClasses is the number of classes of depth by which falls are counted. Each class reaches a tenth lower than the one before, and the
// last class reaches to 0.
const fallClasses = 20

// falls holds sudden lows back: falls that the demand has not shown before, and any fall after a gap. For a minute after a restart, or
// while some of its targets are missing, a source reads only a part of the total.
//
//	0 to 2 minutes    doubted: the low waits
//	2 to 10 minutes   followed: it still waits, and the forecasts are multiplied by the share that is left (Forecaster.decideFallen);
//	                  one that looks like an outage is not followed
//	10 minutes        learned: all lows pass
//
// If the demand recovers within these 10 minutes, the lows pass as dips, which count as gaps.
//
// Example, with steps of 30 s: in the demand 100, 10, 10, 100, both samples of 10 are dips. If the demand is 100 and then 10 for an hour,
// the first four samples of 10 are doubted. From the fifth sample on, they are followed. The 21st sample passes, together with all samples
// of 10 before it.
type falls struct {
	// doubt and learnt are FallDoubt and FallLearnt in steps.
	doubt, learnt int
	// lowest is the negated minimum of the newest known samples, as many as fill fallMemory. known is their number so far, and full is the
	// number that fills fallMemory.
	lowest      *series.TrailingMax
	known, full int
	// seen counts the falls of each class, with a half-life of a day, as of step seenAt. keep is the share that is left after one more
	// step. deepest is the class of the newest fall, which was last seen at step last.
	seen          [fallClasses]float64
	keep          float64
	seenAt        int
	deepest, last int
	// waiting are the lows that are held back, along with the gaps between them. lows is the number of lows since the newest believed
	// sample, and first is the step of the first of these lows.
	waiting, spare []Reading
	lows, first    int
	// gap is the number of steps without a demand since the newest believed sample.
	gap, step int
}

func newFalls(step time.Duration) falls {
	steps := func(d time.Duration) int { return max(1, int((d+step-1)/step)) }
	f := falls{doubt: steps(FallDoubt), learnt: steps(FallLearnt), full: steps(fallMemory), deepest: -1}
	f.lowest = series.NewTrailingMax(f.full)
	f.keep = math.Exp2(-float64(step) / float64(season))
	return f
}

// add judges the next reading. It returns the readings that have waited and are decided now, and whether the new reading waits. The decided
// readings are sorted with the oldest first, and valid until the next step.
func (f *falls) add(r *Reading) (decided []Reading, waits bool) {
	f.step++
	low := f.low(r)
	switch {
	case !(r.Demand >= 0) || math.IsInf(r.Demand, 0) || r.Incomplete && low: // True for NaN.
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
		if !f.low(r) { // After a long dip, the new reading follows a gap.
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

// addGap adds a step without a demand. The step waits together with the lows before it. If these lows are not followed yet, a gap as long
// as FallDoubt ends the wait.
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

// follows reports whether the waiting lows have lasted long enough to be served.
func (f *falls) follows() bool { return len(f.waiting) > 0 && f.lows > f.doubt }

// share returns the share of the demand that is left: the highest waiting low, as a share of the lowest demand before the lows.
func (f *falls) share() float64 {
	share := 0.0
	for i := range f.waiting {
		if r := &f.waiting[i]; !math.IsNaN(r.believed()) {
			share = math.Max(share, f.ratio(r))
		}
	}
	return math.Min(share, 1)
}

// markDips marks the waiting lows that are far below the highest one. For example, if the demand is 100, 10, 10, 85, 85, 85, only 85 is the
// new level, and both samples of 10 are dips.
func (f *falls) markDips() {
	lasted := 0.0
	for i := range f.waiting {
		lasted = math.Max(lasted, f.waiting[i].believed())
	}
	for i := range f.waiting {
		f.waiting[i].Dip = f.waiting[i].Demand < lowShare*lasted
	}
}

// decide ends the wait. Either the waiting readings are learned, or all of them are dips.
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

// learn records a believed demand.
func (f *falls) learn(v float64) {
	f.lows, f.gap = 0, 0
	f.lowest.Push(-v)
	f.known = min(f.known+1, f.full)
}

// ratio returns a demand as a multiple of the lowest recent demand; 1 if too little is known to compare. If an event announces less demand,
// the lowest recent demand is reduced accordingly.
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

// low reports whether a demand is a sudden low, which must be doubted.
func (f *falls) low(r *Reading) bool {
	class := fallClass(f.ratio(r))
	return class >= 0 && f.learnt >= 2*f.doubt && !r.ScaledToZero &&
		(f.gap >= f.doubt || f.seenBelow(class) < habitualFalls)
}

// fallClass returns the class of a fall to a share of the demand; −1 if it is not a fall.
func fallClass(ratio float64) int {
	switch {
	case !(ratio < lowShare):
		return -1
	case ratio <= 0:
		return fallClasses - 1
	}
	return min(fallClasses-1, int(math.Log(ratio/lowShare)/math.Log(lowShare)))
}

// seenBelow returns the decayed number of falls of a class and of deeper classes.
func (f *falls) seenBelow(class int) float64 {
	n := 0.0
	for _, seen := range f.seen[class:] {
		n += seen
	}
	return n * math.Pow(f.keep, float64(f.step-f.seenAt))
}

// count counts a fall. Low samples within FallDoubt of each other count as one fall, in the class of the deepest one. A fall after a gap is
// not counted, because it may be a fault of the source.
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
