package compare

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/policy"
)

// step is the server's: how often it looks at the demand and decides anew.
const step = 30 * time.Second

// lookback is how long one bad sample stands in the demand on the grid: a coarser one is laid there by lines from the sample
// before and to the sample after it.
func (h *history) lookback() time.Duration {
	if h.recorded.Step <= sync {
		return 0
	}
	return 2 * h.recorded.Step
}

// answer is what forewarm serves for some objectives, and what it says at the end of the first.
type answer struct {
	// values of each objective, one at every sync.
	values [][]float64
	says   *outcome.Report
	// windows are the distributions of window peaks that were known at every step.
	windows [][]windowpeak.Window
}

// forecaster is the server's. Its simulated autoscalers are as the server's: every replica takes the lead time that is planned
// with, and sustains the autoscaler's target.
func (h *history) forecaster(c *Config, horizons []time.Duration, objectives ...float64) forecaster.Config {
	scaling := decide.Scaling{By: c.Autoscaler, HPA: c.spec(c.full()).HPA}
	out := forecaster.Config{
		Step: step, Window: c.window(), Rate: true, Lookback: h.lookback(), Horizons: horizons,
		Scalings: []decide.Scaling{scaling},
	}
	for _, late := range objectives {
		out.Also = append(out.Also, decide.Policy{
			Late: late, Wait: c.Wait, Target: scaling.Target(), Usable: scaling.Usable(), Lead: c.planned(),
			Mode: decide.Floor,
		})
	}
	out.Policy, out.Also = out.Also[0], out.Also[1:]
	return out
}

// decided is what forewarm serves for some objectives at once, as the server decides it. The windows are kept where horizons
// are asked for beside the usual.
func (h *history) decided(c *Config, horizons []time.Duration, objectives ...float64) (answer, error) {
	p := &serving{
		Forewarm: policy.NewForewarm(h.forecaster(c, horizons, objectives...)), keep: len(horizons) > 0,
		answer: answer{values: make([][]float64, len(objectives))},
	}
	if _, err := simulate.Values(h.demand, step, stopping{h.done, p}); err != nil {
		return answer{}, err
	}
	if f := p.Forecaster(); f != nil && f.Objective() != nil {
		p.answer.says = f.Objective().Report()
	}
	return p.answer, nil
}

// serving takes down what forewarm serves from one step to the next. The newest sample may still come while a step runs: the
// server goes by those before it.
type serving struct {
	*policy.Forewarm
	answer
	newest []float64
	keep   bool
}

// Serve is the value of the first objective.
func (s *serving) Serve(o simulate.Observation) float64 {
	for i := range s.values {
		v := math.NaN()
		if s.newest != nil {
			v = s.newest[i]
		}
		for range int(step / sync) {
			s.values[i] = append(s.values[i], v)
		}
	}
	s.newest = append(s.newest[:0], s.ServeAll(o)...)
	if s.keep {
		s.windows = append(s.windows, s.Forecaster().Windows())
	}
	return s.newest[0]
}
