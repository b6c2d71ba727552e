package outcome

import (
	"math"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/margin"
	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// candidate is a contender: a candidate with the shadows that try multiples of its spread.
type candidate struct {
	name string
	// begun: it has forecast once. What the last value did in a last season's stead says nothing about the season.
	begun bool
	// inputs of the last half lead time, newest last.
	inputs []decide.Input
	grid   []float64
	// values are those of each multiple in the step under way.
	values []float64
	trials []trial
}

// trial is how a candidate does under one autoscaler.
type trial struct {
	shadows *hpasim.Shadows
	margin  *margin.Margin
	curve   margin.Curve
}

func newCandidate(c Config, name string, grid []float64) (*candidate, error) {
	out := &candidate{
		name: name, begun: name != windowpeak.LastSeason, grid: grid, values: make([]float64, len(grid)),
	}
	if c.fixed() {
		return out, nil
	}
	err := out.try(c, c.Autoscalers, func() *margin.Margin { return newMargin(c.Margins, name, grid) })
	return out, err
}

// newNamed is a candidate that autoscalers ask for by name. One that was not studied begins as the last value does.
func newNamed(c Config, n Named) (*candidate, error) {
	grid := margin.Coarse()
	late := c.Margins.For(windowpeak.LastValue, grid)
	if known, ok := c.Margins[n.Candidate]; ok && len(known) == len(grid) {
		late = known
	}
	out := &candidate{name: n.Candidate, begun: true, grid: grid, values: make([]float64, len(grid))}
	err := out.try(c, n.Autoscalers, func() *margin.Margin { return margin.New(grid, late) })
	return out, err
}

// try begins a trial on each of the autoscalers.
func (c *candidate) try(config Config, on []Autoscaler, newMargin func() *margin.Margin) error {
	for _, a := range on {
		shadows, err := hpasim.NewShadows(a.Spec, len(c.grid), config.Start, config.Step)
		if err != nil {
			return err
		}
		m := newMargin()
		c.trials = append(c.trials, trial{shadows: shadows, margin: m, curve: m.Curve()})
	}
	return nil
}

// newMargin counts for the same time last season the surges that it saw coming, and for all others the hours.
func newMargin(all margin.Priors, name string, grid []float64) *margin.Margin {
	if name == windowpeak.LastSeason {
		surge := margin.Surged(all.For(windowpeak.LastValue, margin.Coarse()))
		return margin.BySurges(grid, all.For(name, grid), surge)
	}
	return margin.New(grid, all.For(name, grid))
}

// play plays the step that has ended.
func (c *candidate) play(arrived float64) {
	for i := range c.trials {
		c.trials[i].shadows.Play(c.values, arrived)
	}
}

// hour takes down what the shadows did in the hour that has ended, and what came in surges, of each autoscaler (none where
// hours are counted); where the hour says nothing they only begin the next one.
func (c *candidate) hour(surged []float64, says bool) {
	for i := range c.trials {
		t := &c.trials[i]
		if s := t.shadows.Score(); c.begun && says {
			hour := margin.Hour{Arrived: s.Arrived, Late: s.Late, Paid: s.Paid}
			if len(surged) > 0 {
				hour.Surged = surged[i]
			}
			t.margin.Add(hour)
			t.curve = t.margin.Curve()
		}
		t.shadows.Reset()
	}
}

// surged is what came in surges in the hour that has ended, for each autoscaler; asked of the last value only.
func (c *candidate) surged() []float64 {
	out := make([]float64, len(c.trials))
	for i := range c.trials {
		out[i] = margin.Surged(c.trials[i].shadows.Score().Late)
	}
	return out
}

// see takes the forecast ahead, keeps it for as many inputs as are looked back over, and sets the values of the coming step.
func (c *candidate) see(in decide.Input, hold int) {
	c.inputs = append(c.inputs, in)
	if len(c.inputs) > hold {
		c.inputs = append(c.inputs[:0], c.inputs[len(c.inputs)-hold:]...)
	}
	if len(c.trials) > 0 {
		decide.HeldTo(c.values, c.grid, c.inputs)
	}
}

// multiple is the largest that any of the autoscalers needs.
func (c *candidate) multiple(a Asked) float64 {
	if a.Fixed > 0 {
		return a.Fixed
	}
	k := 0.0
	for i := range c.trials {
		one, _ := needs(c.trials[i].curve, a.Price, a.Late)
		k = math.Max(k, one)
	}
	return k
}
