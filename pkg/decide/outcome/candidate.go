package outcome

import (
	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/decide/margin"
	"github.com/forewarm/forewarm/pkg/decide/shape"
	"github.com/forewarm/forewarm/pkg/workload"
)

// The names of the candidates beside the models, which go by their own.
const (
	Learnt     = "learnt"
	LastValue  = "last-value"
	LastSeason = "last-season"
)

// candidate is one way to the shape of the window's maximum, with the shadows that try multiples of its spread.
type candidate struct {
	name string
	// alone is nil for what is learnt.
	alone *shape.Alone
	// inputs of the last half lead time, newest last.
	inputs []decide.Input
	grid   []float64
	// values are those of each multiple in the step under way.
	values []float64
	trials []trial
}

// trial is how a candidate does under one autoscaler.
type trial struct {
	shadows *workload.Shadows
	margin  *margin.Margin
	curve   margin.Curve
}

func newCandidate(c Config, name string, grid []float64) (*candidate, error) {
	out := &candidate{name: name, grid: grid, values: make([]float64, len(grid))}
	if name != Learnt {
		out.alone = shape.NewAlone(c.Shape)
	}
	for _, a := range c.Autoscalers {
		shadows, err := workload.NewShadows(a.Spec, len(grid), c.Start, c.Shape.Step)
		if err != nil {
			return nil, err
		}
		m := margin.New(grid, c.Margins.For(name, grid))
		out.trials = append(out.trials, trial{shadows: shadows, margin: m, curve: m.Curve()})
	}
	return out, nil
}

// play plays the step that has ended.
func (c *candidate) play(arrived float64) {
	for i := range c.trials {
		c.trials[i].shadows.Play(c.values, arrived)
	}
}

// hour takes down what the shadows did in the hour that has ended.
func (c *candidate) hour() {
	for i := range c.trials {
		t := &c.trials[i]
		score := t.shadows.Score()
		t.margin.Hour(score.Arrived, score.Late, score.Paid)
		t.shadows.Reset()
		t.curve = t.margin.Curve()
	}
}

// see takes the shape ahead, keeps it for as many inputs as are looked back over, and sets the values of the coming step.
func (c *candidate) see(in decide.Input, hold int) {
	c.inputs = append(c.inputs, in)
	if len(c.inputs) > hold {
		c.inputs = append(c.inputs[:0], c.inputs[len(c.inputs)-hold:]...)
	}
	if len(c.trials) == 0 {
		return
	}
	for i, k := range c.grid {
		c.values[i], _ = decide.Held(decide.Floor, k, c.inputs)
	}
}
