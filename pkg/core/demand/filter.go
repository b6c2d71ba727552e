package demand

import (
	"math"
	"time"
)

// FilterConfig configures a Filter.
type FilterConfig struct {
	// Step between samples, more than 0.
	Step time.Duration
	// Corroboration is how long a level must last to be credible.
	Corroboration time.Duration
	// Windows are the bounded windows, in steps, ascending; Lead is the index of the lead window.
	Windows []int
	Lead    int
	// Replica is what one replica sustains, in the demand's unit; 0 if it is unknown.
	Replica float64
}

// Corroboration returns how long a level must last to be credible, for a query that looks back over a range. One bad scrape affects the
// result for as long as the range. Corroboration adds two steps or two minutes, whichever is longer.
func Corroboration(reach, step time.Duration) time.Duration {
	return reach + max(2*step, 2*time.Minute)
}

// believed returns the demand to learn from: NaN for a suspect and a dip.
func (r *Reading) believed() float64 {
	if r.Suspect || r.Dip {
		return math.NaN()
	}
	return r.Demand
}

// above reports whether the demand is above a credible level, raised by what an event announces.
func (r *Reading) above(top float64) bool { return r.Demand > raised(top, r.Times, r.AtLeast) }

// Filter holds suspect samples back until they are confirmed, or until the demand falls again. It is not safe for concurrent use.
//
// A sample up to the cap of the base passes immediately. A higher sample waits, along with all samples that follow, until the base has
// risen. Then all of them pass as credible. If the demand falls below the cap before that, the suspects pass as suspects. So models never
// have to unlearn a sample. They are late only while there are suspects, and by at most the corroboration time.
type Filter struct {
	config  FilterConfig
	span    int // the corroboration time, in steps
	step    int
	base    base
	tracker boundTracker
	bound   Bound
	// waiting are the readings that are held back, the oldest first. out is a buffer that Step reuses.
	waiting []Reading
	out     []Reading
	// gap counts the steps without a sample since the newest one.
	gap int
	// falls holds sudden lows back before anything else reads them.
	falls falls
}

// NewFilter returns a Filter without history. The configuration must be valid.
func NewFilter(c FilterConfig) *Filter {
	span := int((c.Corroboration + c.Step - 1) / c.Step)
	f := &Filter{config: c, span: span, base: newBase(span), tracker: newBoundTracker(c), falls: newFalls(c.Step)}
	f.update()
	return f
}

// Step adds the reading of the next step, and returns the readings that can be decided now, the oldest first. It returns none if the new
// reading waits, and several if other readings waited for it. They are valid until the next Step.
func (f *Filter) Step(r Reading) []Reading {
	f.out = f.out[:0]
	decided, waits := f.falls.add(&r)
	for _, low := range decided {
		f.admit(low)
	}
	if !waits {
		f.admit(r)
	}
	return f.out
}

// admit adds a reading that falls has passed on.
func (f *Filter) admit(r Reading) {
	f.base.add(f.step, r.believed())
	f.step++
	f.bound.Base = f.base.level
	f.bound.MaxObserved = f.maxObserved()
	top := f.Cap()
	credible := 0
	for credible < len(f.waiting) && !f.waiting[credible].above(top) {
		credible++
	}
	f.release(credible, top)
	waits := !r.Dip && r.above(top)
	if math.IsNaN(r.believed()) {
		f.gap++
		waits = len(f.waiting) > 0 && f.gap <= f.span
	} else {
		f.gap = 0
	}
	if !waits {
		f.release(len(f.waiting), top)
		f.learn(r)
		r.Bound = f.bound
		f.out = append(f.out, r)
		return
	}
	r.Bound = f.bound
	f.waiting = append(f.waiting, r)
	if len(f.waiting) > 2*f.span+1 {
		f.release(1, top)
	}
}

// Cap returns the highest demand that is credible immediately.
func (f *Filter) Cap() float64 { return withRise(f.base.level, f.tracker.growth[f.config.Lead]) }

// maxObserved returns the maximum that an observed demand counts as.
func (f *Filter) maxObserved() float64 {
	if f.base.level == 0 || f.base.level < f.config.Replica {
		return math.Inf(1)
	}
	return f.Cap()
}

// release passes the n oldest waiting readings. Readings above the cap pass as suspects.
func (f *Filter) release(n int, top float64) {
	for _, r := range f.waiting[:n] {
		r.Suspect = !r.Dip && r.above(top)
		f.learn(r)
		f.out = append(f.out, r)
	}
	f.waiting = append(f.waiting[:0], f.waiting[n:]...)
}

func (f *Filter) learn(r Reading) {
	f.tracker.add(math.Min(r.believed(), f.base.level))
	f.update()
}

func (f *Filter) update() {
	f.bound = f.tracker.bound(f.base.level)
	f.bound.MaxObserved = f.maxObserved()
}

// Waiting returns the readings that are held back because they are too high, the oldest first; they are valid until the next Step.
func (f *Filter) Waiting() []Reading { return f.waiting }

// Fallen returns the sudden lows that are held back, which are newer than the readings that Waiting returns, and whether they have lasted
// long enough to be served. They are valid until the next Step.
func (f *Filter) Fallen() (lows []Reading, followed bool) { return f.falls.waiting, f.falls.follows() }

// FallenTo is the level of the sudden lows, as a share of the demand before them.
func (f *Filter) FallenTo() float64 { return f.falls.share() }

// Corroboration is how long a level must last to be credible.
func (f *Filter) Corroboration() time.Duration { return f.config.Corroboration }
