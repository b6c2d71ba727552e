package credible

import (
	"math"
	"time"
)

// Config of a Filter.
type Config struct {
	// Step between samples, more than 0.
	Step time.Duration
	// Corroboration is how long a level must last to be credible.
	Corroboration time.Duration
	// Windows are those that are bounded, in steps, ascending; Lead is the index of the lead window.
	Windows []int
	Lead    int
	// Replica is what one replica sustains, in the demand's unit; 0 where it is not known.
	Replica float64
}

// Corroboration is how long a level must last to be credible where a query looks back over a range: what one bad scrape can
// repeat itself for, and two steps or two minutes more, whichever is longer.
func Corroboration(reach, step time.Duration) time.Duration {
	return reach + max(2*step, 2*time.Minute)
}

// Sample is a step's raw demand and whether it can be believed.
type Sample struct {
	// Demand as it was read, NaN for a gap.
	Demand float64
	// Suspect says that it was far above all that is credible, and was not corroborated.
	Suspect bool
	// Bound is the most that was justified at its time: for a sample that was corroborated later, that before it.
	Bound Bound
}

// Known is what of the sample may teach: its demand, NaN of a suspect.
func (s Sample) Known() float64 {
	if s.Suspect {
		return math.NaN()
	}
	return s.Demand
}

// Filter holds suspects back until they are corroborated or have passed. It is not safe for concurrent use.
//
// A sample at or below the cap of the base passes at once. One above it waits, and with it all that follows, until the base
// has risen: then all of them pass, as what they are. Where the demand falls below the cap before that, the suspects pass as
// suspects. So whoever learns from what passes never has to unlearn, and is late by the corroboration time at most, and
// only while there is a doubt.
type Filter struct {
	config Config
	span   int // the corroboration time in steps
	step   int
	base   base
	limits limits
	bound  Bound
	// waiting are the samples that are held back, the oldest first; out is scratch.
	waiting []Sample
	out     []Sample
	// gap counts the steps without a sample since the newest one.
	gap int
}

// NewFilter has seen nothing yet. The configuration must be valid.
func NewFilter(c Config) *Filter {
	span := int((c.Corroboration + c.Step - 1) / c.Step)
	f := &Filter{config: c, span: span, base: newBase(span), limits: newLimits(c)}
	f.update()
	return f
}

// Step takes the raw demand of the next step, NaN for a gap, and gives the samples that can be judged now, the oldest
// first: none, where it waits, and more than one, where others have waited for it. They are good until the next Step.
func (f *Filter) Step(raw float64) []Sample {
	f.out = f.out[:0]
	f.base.add(f.step, raw)
	f.step++
	f.bound.Base = f.base.level
	f.bound.Most = f.most()
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
		f.waiting = append(f.waiting, Sample{Demand: raw, Bound: f.bound})
		if len(f.waiting) > 2*f.span+1 {
			f.release(1, top)
		}
	default:
		f.release(len(f.waiting), top)
		f.pass(Sample{Demand: raw})
	}
	return f.out
}

// Cap is the most that is believed at once.
func (f *Filter) Cap() float64 { return above(f.base.level, f.limits.growth[f.config.Lead]) }

// most is the most that an observed demand counts for.
func (f *Filter) most() float64 {
	if f.base.level == 0 || f.base.level < f.config.Replica {
		return math.Inf(1)
	}
	return f.Cap()
}

// releaseCredible lets the oldest pass as far as they are credible by now.
func (f *Filter) releaseCredible(top float64) {
	n := 0
	for n < len(f.waiting) && !(f.waiting[n].Demand > top) {
		n++
	}
	f.release(n, top)
}

// release lets the oldest pass, those above the cap as suspects.
func (f *Filter) release(n int, top float64) {
	for _, s := range f.waiting[:n] {
		s.Suspect = s.Demand > top
		f.learn(s)
		f.out = append(f.out, s)
	}
	f.waiting = append(f.waiting[:0], f.waiting[n:]...)
}

// pass lets a sample of now pass, with the bound that it has moved.
func (f *Filter) pass(s Sample) {
	f.learn(s)
	s.Bound = f.bound
	f.out = append(f.out, s)
}

func (f *Filter) learn(s Sample) {
	f.limits.add(math.Min(s.Known(), f.base.level))
	f.update()
}

func (f *Filter) update() {
	f.bound = f.limits.bound(f.base.level)
	f.bound.Most = f.most()
}

// Bound is the most that is justified now.
func (f *Filter) Bound() Bound { return f.bound }

// Waiting are the raw samples that are held back, the oldest first; they are good until the next Step.
func (f *Filter) Waiting() []Sample { return f.waiting }

// Corroboration is how long a level must last to be credible.
func (f *Filter) Corroboration() time.Duration { return f.config.Corroboration }
