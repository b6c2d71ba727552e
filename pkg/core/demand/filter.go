package demand

import (
	"math"
	"time"
)

// FilterConfig is that of a Filter.
type FilterConfig struct {
	// Step between samples, more than 0.
	Step time.Duration
	// Corroboration is how long a level must last to be credible.
	Corroboration time.Duration
	// Windows are the bounded windows, in steps, ascending; Lead is the index of the lead window.
	Windows []int
	Lead    int
	// Replica is what one replica sustains, in the demand's unit; 0 where it is unknown.
	Replica float64
}

// Corroboration returns how long a level must last to be credible, for a query that looks back over a range: one bad
// scrape lasts that long in its result, and two steps or two minutes are added, whichever is longer.
func Corroboration(reach, step time.Duration) time.Duration {
	return reach + max(2*step, 2*time.Minute)
}

// Filtered is the raw demand of a step and whether it is believed.
type Filtered struct {
	// Demand as it was read, NaN for a gap.
	Demand float64
	// Suspect is true where it was far above all that is credible, and was not corroborated.
	Suspect bool
	// Bound is the most that was justified at its time; for a sample that was corroborated later, before it.
	Bound Bound
}

// known returns the demand to learn from: NaN for a suspect.
func (s Filtered) known() float64 {
	if s.Suspect {
		return math.NaN()
	}
	return s.Demand
}

// Filter holds suspects back until they are corroborated or over. It is not safe for concurrent use.
//
// A sample up to the cap of the base passes at once. A higher one waits, and with it all that follow, until the base
// has risen; then all of them pass as credible. If the demand falls below the cap before that, the suspects pass as
// suspects. So models never have to unlearn, and are late by the corroboration time at most, only while there are
// suspects.
type Filter struct {
	config  FilterConfig
	span    int // the corroboration time, in steps
	step    int
	base    base
	tracker boundTracker
	bound   Bound
	// waiting are the samples that are held back, the oldest first; out is reused by Step.
	waiting []Filtered
	out     []Filtered
	// gap counts the steps without a sample since the newest one.
	gap int
}

// NewFilter returns a Filter without history. The configuration must be valid.
func NewFilter(c FilterConfig) *Filter {
	span := int((c.Corroboration + c.Step - 1) / c.Step)
	f := &Filter{config: c, span: span, base: newBase(span), tracker: newBoundTracker(c)}
	f.update()
	return f
}

// Step adds the raw demand of the next step, NaN for a gap, and returns the samples that can be decided now, the oldest
// first: none where it waits, several where others waited for it. They are valid until the next Step.
func (f *Filter) Step(raw float64) []Filtered {
	f.out = f.out[:0]
	f.base.add(f.step, raw)
	f.step++
	f.bound.Base = f.base.level
	f.bound.MaxObserved = f.maxObserved()
	top := f.Cap()
	f.releaseCredible(top)
	waits := raw > top
	if math.IsNaN(raw) {
		f.gap++
		waits = len(f.waiting) > 0 && f.gap <= f.span
	} else {
		f.gap = 0
	}
	switch {
	case waits:
		f.waiting = append(f.waiting, Filtered{Demand: raw, Bound: f.bound})
		if len(f.waiting) > 2*f.span+1 {
			f.release(1, top)
		}
	default:
		f.release(len(f.waiting), top)
		f.pass(Filtered{Demand: raw})
	}
	return f.out
}

// Cap returns the highest demand that is believed at once.
func (f *Filter) Cap() float64 { return withRise(f.base.level, f.tracker.growth[f.config.Lead]) }

// maxObserved returns the most that an observed demand counts for.
func (f *Filter) maxObserved() float64 {
	if f.base.level == 0 || f.base.level < f.config.Replica {
		return math.Inf(1)
	}
	return f.Cap()
}

// releaseCredible passes the oldest waiting samples that are credible by now.
func (f *Filter) releaseCredible(top float64) {
	n := 0
	for n < len(f.waiting) && !(f.waiting[n].Demand > top) {
		n++
	}
	f.release(n, top)
}

// release passes the n oldest waiting samples, those above the cap as suspects.
func (f *Filter) release(n int, top float64) {
	for _, s := range f.waiting[:n] {
		s.Suspect = s.Demand > top
		f.learn(s)
		f.out = append(f.out, s)
	}
	f.waiting = append(f.waiting[:0], f.waiting[n:]...)
}

// pass passes the newest sample, with the bound after it.
func (f *Filter) pass(s Filtered) {
	f.learn(s)
	s.Bound = f.bound
	f.out = append(f.out, s)
}

func (f *Filter) learn(s Filtered) {
	f.tracker.add(math.Min(s.known(), f.base.level))
	f.update()
}

func (f *Filter) update() {
	f.bound = f.tracker.bound(f.base.level)
	f.bound.MaxObserved = f.maxObserved()
}

// Waiting returns the samples that are held back, the oldest first; they are valid until the next Step.
func (f *Filter) Waiting() []Filtered { return f.waiting }

// Corroboration is how long a level must last to be credible.
func (f *Filter) Corroboration() time.Duration { return f.config.Corroboration }
