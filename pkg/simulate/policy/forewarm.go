package policy

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/credible"
	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/decide/outcome"
	"github.com/forewarm/forewarm/pkg/decide/trailing"
	"github.com/forewarm/forewarm/pkg/simulate"
)

// Forewarm serves what forewarm decides.
type Forewarm struct {
	objective *outcome.Objective
	passing   *Passing
	// observed are the demands that were observed, from the oldest that is held back on; minute is how many samples one is the
	// mean of, and recent are the newest that passed, suspects left out.
	observed []float64
	minute   int
	recent   []float64
	// floor is what is observed while samples are held back, as far as it is credible; else NaN.
	floor float64
}

// NewForewarm has seen nothing yet. One bad sample may stand in the demand for as long as it looks back.
func NewForewarm(c outcome.Config, lookback time.Duration) (*Forewarm, error) {
	o, err := outcome.New(c)
	if err != nil {
		return nil, err
	}
	f := &Forewarm{objective: o, minute: max(1, int(time.Minute/c.Shape.Step))}
	f.passing = NewPassing(c.Credible(lookback), f.step)
	return f, nil
}

// Serve is the value for the coming step. While samples are held back as suspects, it is what was decided before them, or
// what is observed as far as that is credible.
func (f *Forewarm) Serve(o simulate.Observation) float64 {
	f.observed = append(f.observed, o.Demand)
	f.passing.Serve(o)
	f.floor = math.NaN()
	if len(f.passing.filter.Waiting()) > 0 {
		f.floor = f.passing.filter.Bound().Limit(0).Credit(o.Demand)
	}
	return trailing.Most(f.objective.Value(), f.floor)
}

// Under is the value for the coming step under another multiple of the spread; NaN before the first demand.
func (f *Forewarm) Under(k float64) float64 {
	if math.IsNaN(f.objective.Now()) {
		return f.floor
	}
	return trailing.Most(decide.Held(k, f.objective.Inputs()), f.floor)
}

// step takes a sample that has passed.
func (f *Forewarm) step(s credible.Sample) {
	observed := f.observed[0]
	f.observed = append(f.observed[:0], f.observed[1:]...)
	arrived := s.Known()
	f.recent = append(f.recent, arrived)
	if len(f.recent) > f.minute {
		f.recent = append(f.recent[:0], f.recent[1:]...)
	}
	f.objective.Step(outcome.Sample{Observed: f.clean(observed), Arrived: arrived, Limit: s.Bound.Limit(0)})
}

// clean is an observed demand without the suspects in its minute.
func (f *Forewarm) clean(observed float64) float64 {
	sum, n, suspects := 0.0, 0.0, false
	for _, v := range f.recent {
		if math.IsNaN(v) {
			suspects = true
			continue
		}
		sum += v
		n++
	}
	newest := f.recent[len(f.recent)-1]
	if !suspects || math.IsNaN(newest) {
		return observed + 0*newest // NaN where the newest is.
	}
	return sum / n
}

// Objective is what decides.
func (f *Forewarm) Objective() *outcome.Objective { return f.objective }

// Passing hands on what arrives as the server's models see it: once it is known whether it is credible. It serves nothing.
type Passing struct {
	filter *credible.Filter
	pass   func(credible.Sample)
}

// NewPassing has seen nothing yet. The configuration must be valid.
func NewPassing(c credible.Config, pass func(credible.Sample)) *Passing {
	return &Passing{filter: credible.NewFilter(c), pass: pass}
}

// Serve is NaN.
func (p *Passing) Serve(o simulate.Observation) float64 {
	for _, s := range p.filter.Step(o.Arrived) {
		p.pass(s)
	}
	return math.NaN()
}
