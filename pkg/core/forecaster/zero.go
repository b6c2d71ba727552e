package forecaster

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// idleness is the state of the rule for idle workloads.
type idleness struct {
	// below is the demand that counts as none: a tenth of what a replica sustains; 0 if that is unknown.
	below float64
	// steps is the number of steps since the workload was last not idle. decided is true once there has been a decision.
	steps   int
	decided bool
	// low is the number of known samples since the demand was last not below, and returns are the steps at which the demand rose after a lead
	// window of such samples, ascending.
	low     int
	returns []int64
}

// maxReturns limits the memory.
const maxReturns = 512

// returnSeasons are the seasons after which a return of the demand is expected again. Three days contain a weekend, so a rise that was seen
// on Friday is expected on Monday. A rise that was missed once, because no replica was there to report it, is still expected. Seven days are
// a week, after a long weekend.
func returnSeasons() [4]int64 { return [...]int64{1, 2, 3, 7} }

// countIdle counts the steps for which a workload that may scale to zero is idle: its demand is known to be 0, less than a tenth of a
// replica is expected, no event is near, and no deferrable work waits. A gap is no evidence: it does not count, and it ends nothing. While the
// selected candidate has no forecast, for example because of a gap a season ago, only a due return says that demand is expected.
func (f *Forecaster) countIdle(sample demand.Sample) {
	f.noteReturn(sample.Value)
	if f.config.Settings.ZeroBelow == 0 {
		return
	}
	f.idle.decided = f.idle.decided || f.Decided()
	busy := sample.Value > 0 || f.Decided() && !f.decision.IsIdle(f.config.Settings)
	switch {
	case !f.idle.decided, busy, f.eventsAhead() != "", f.workWaits(sample), f.returnIsDue():
		f.idle.steps = 0
	case !math.IsNaN(sample.Value):
		f.idle.steps++
	}
}

// noteReturn records when the demand rises after a lead window of almost no demand.
func (f *Forecaster) noteReturn(v float64) {
	i := &f.idle
	switch {
	case i.below == 0:
	case v < i.below:
		i.low++
	case v >= i.below: // False for NaN.
		if i.low >= f.config.stepsIn(f.config.Window) {
			if len(i.returns) == maxReturns {
				i.returns = slices.Delete(i.returns, 0, 1)
			}
			i.returns = append(i.returns, f.next-1)
		}
		i.low = 0
	}
}

// returnIsDue reports whether the demand rose after a time without demand at about this time in one of the last seasons.
func (f *Forecaster) returnIsDue() bool {
	from, _ := f.dueReturn()
	return from <= f.next
}

// dueReturn returns the step from which on the next return of the demand is expected, and whether there is one. A rise of an earlier season
// is expected from two lead windows before its time until one lead window after it.
func (f *Forecaster) dueReturn() (from int64, known bool) {
	season := int64(windowpeak.Config{Seasons: f.config.Seasons}.Season() / f.config.Step)
	window := int64(f.config.stepsIn(f.config.Window))
	from = math.MaxInt64
	for _, at := range f.idle.returns {
		for _, n := range returnSeasons() {
			if due := at + n*season; f.next <= due+window {
				from, known = min(from, due-2*window), true
			}
		}
	}
	return from, known
}

// workWaits reports whether deferrable work arrives or waits.
func (f *Forecaster) workWaits(sample demand.Sample) bool {
	if sample.Deferrable > 0 {
		return true
	}
	c := f.Calibrator()
	return c != nil && c.Deferred(0) > 0
}

// asleep reports whether the workload may be at zero: it has been idle for a lead window. A sudden low may be an error of the source, so
// its zeros count only once they are learned.
func (f *Forecaster) asleep() bool {
	lows, _ := f.filter.Fallen()
	return len(lows) == 0 && f.idle.steps >= f.config.stepsIn(f.config.Window)
}

// applyZero applies the rule for idle workloads to the decision.
func (f *Forecaster) applyZero() {
	if f.config.Settings.ZeroBelow > 0 {
		f.decision.ApplyZero(f.config.Settings, f.asleep())
	}
}
