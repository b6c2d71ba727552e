package objective

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// candidate is a candidate with the simulated autoscalers that try multipliers of its spread.
type candidate struct {
	name string
	// started: it has had a forecast of its own. Before that the demand now stands in, which is no evidence about it.
	started bool
	// inputs of the last half lead time, newest last.
	inputs []decide.Input
	grid   []float64
	// values of each multiplier in the coming steps, those of the next one first.
	values [][]float64
	trials []trial
}

// trial is a candidate under one autoscaler.
type trial struct {
	simulated *sim.Simulation
	// late expects the share of the demand that is late, badHours that which arrives in bad hours.
	late, badHours estimate
}

// estimate is an estimator with its newest curve.
type estimate struct {
	estimator *estimator
	curve     Curve
}

func newEstimate(grid, prior []float64, of caution) estimate {
	m := newEstimator(grid, prior, of)
	return estimate{m, m.curve()}
}

func (e *estimate) add(h hour) {
	e.estimator.add(h)
	e.curve = e.estimator.curve()
}

// of is the estimate that a goal limits.
func (t *trial) of(asked Goal) *estimate {
	if asked.BadHours {
		return &t.badHours
	}
	return &t.late
}

func newCandidate(c Config, name string, grid []float64) (*candidate, error) {
	out := &candidate{
		name: name, started: !repeats(name), grid: grid, values: newValues(c.Delay, len(grid)),
	}
	err := out.addTrials(c, c.Autoscalers, name)
	return out, err
}

// newNamedCandidate is a candidate that autoscalers request by name. One without a prior has that of the last value.
func newNamedCandidate(c Config, n NamedCandidate) (*candidate, error) {
	grid := coarseGrid()
	out := &candidate{name: n.Candidate, started: true, grid: grid, values: newValues(c.Delay, len(grid))}
	err := out.addTrials(c, n.Autoscalers, n.Candidate, windowpeak.LastValue)
	return out, err
}

// newValues are unknown for the steps of the delay and for the one after it.
func newValues(delay, multipliers int) [][]float64 {
	out := make([][]float64, delay+1)
	for i := range out {
		out[i] = slices.Repeat([]float64{math.NaN()}, multipliers)
	}
	return out
}

// addTrials adds a trial with each of the autoscalers, with the prior of the first name that has one.
func (c *candidate) addTrials(config Config, on []Autoscaler, names ...string) error {
	for _, a := range on {
		shadows, err := sim.NewSimulation(a.Spec, len(c.grid), config.Start, config.Step)
		if err != nil {
			return err
		}
		c.trials = append(c.trials, trial{
			simulated: shadows,
			late:      newEstimate(c.grid, config.Priors.Late.forGrid(c.grid, names...), cautionOfLate()),
			badHours:  newEstimate(c.grid, config.Priors.BadHours.forGrid(c.grid, names...), cautionOfBadHours()),
		})
	}
	return nil
}

// repeats reports that a candidate repeats the last season or week.
func repeats(name string) bool { return name == windowpeak.LastSeason || name == windowpeak.LastWeek }

// play plays the step that has ended.
func (c *candidate) play(arrived float64) {
	for i := range c.trials {
		c.trials[i].simulated.Play(c.values[0], arrived)
	}
}

// endHour records the hour that has ended if it is evidence.
func (c *candidate) endHour(evidence bool) {
	for i := range c.trials {
		t := &c.trials[i]
		if s := t.simulated.Score(); c.started && evidence {
			t.late.add(hour{Arrived: s.Arrived, Late: s.Late, Paid: s.Paid})
			t.badHours.add(hour{Arrived: s.Arrived, Late: badDemand(s.Arrived, s.Late), Paid: s.Paid})
		}
		t.simulated.Reset()
	}
}

// observe adds an input and sets the values that it leads to.
func (c *candidate) observe(in decide.Input, hold int) {
	c.inputs = append(c.inputs, in)
	if len(c.inputs) > hold {
		c.inputs = append(c.inputs[:0], c.inputs[len(c.inputs)-hold:]...)
	}
	if len(c.trials) > 0 {
		oldest, last := c.values[0], len(c.values)-1
		copy(c.values, c.values[1:])
		c.values[last] = oldest
		decide.HeadroomValuesTo(oldest, c.grid, c.inputs)
	}
}

// headroomFor is the largest multiplier that any of the autoscalers needs.
func (c *candidate) headroomFor(asked Goal, target float64) float64 {
	k := 0.0
	for i := range c.trials {
		k = math.Max(k, headroomFor(c.trials[i].of(asked).curve, asked, target))
	}
	return k
}
