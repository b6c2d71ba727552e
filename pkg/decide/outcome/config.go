package outcome

import (
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/credible"
	"github.com/forewarm/forewarm/pkg/decide/margin"
	"github.com/forewarm/forewarm/pkg/decide/shape"
	"github.com/forewarm/forewarm/pkg/workload"
)

// Config says what is decided of which workload.
type Config struct {
	// Shape of the window's maximum is learnt with it, from the prior. Its models are those of Models, by name and in order.
	Shape shape.Config
	Prior shape.Prior
	// Models forecast the maximum of the window ahead, each a feature of what is learnt and a candidate by itself.
	Models []Forecaster
	// Alone are candidates by themselves only.
	Alone []Named
	// Lead time; what is served is held for half of it.
	Lead time.Duration
	// Late is the objective, a share between 0 and 1. Margins are what was late on other workloads.
	Late    float64
	Margins margin.Priors
	// Price of a replica's worth of demand that is late, in idle replicas, instead of an objective; 0 for none.
	Price float64
	// Fixed is a multiple of the learnt shape's spread to serve in any case; 0 leaves it to the outcome.
	Fixed float64
	// Autoscalers that read the value: at least one, but with Fixed.
	Autoscalers []Autoscaler
	// Start is the time of the first step.
	Start time.Time
	// Refit is how often the shape is fitted anew; 0 means shape.RefitEvery.
	Refit time.Duration
}

// Autoscaler is what the shadows are like.
type Autoscaler struct {
	// By names it, see decide.Scaling.
	By   string
	Spec workload.Spec
}

// Named is a forecaster by its name.
type Named struct {
	Name string
	Forecaster
}

// Forecaster forecasts the maximum of the window ahead.
type Forecaster interface {
	// Push takes the demand of a step, NaN for a gap, and gives the forecast, NaN for none.
	Push(demand float64) float64
}

// Credible is how the demand is filtered of what cannot be believed, where one bad sample of its source may stand in it for
// a while.
func (c Config) Credible(lookback time.Duration) credible.Config {
	replica := 0.0
	for i, a := range c.Autoscalers {
		if i == 0 || a.Spec.Capacity < replica {
			replica = a.Spec.Capacity
		}
	}
	return credible.Config{
		Step: c.Shape.Step, Corroboration: credible.Corroboration(lookback, c.Shape.Step),
		Windows: []int{c.Shape.WindowSteps()}, Replica: replica,
	}
}

// models are all of them, the features first.
func (c Config) models() []Named {
	var out []Named
	for i, m := range c.Models {
		out = append(out, Named{c.Shape.Models[i], m})
	}
	return append(out, c.Alone...)
}

func (c Config) validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf("outcome: "+format, args...)) }
	if len(c.Models) != len(c.Shape.Models) {
		wrong("%d models of %d names, want as many", len(c.Models), len(c.Shape.Models))
	}
	if c.Fixed == 0 && !(c.Late > 0 && c.Late < 1) && !(c.Price > 0) {
		wrong("an objective of %v, want a share between 0 and 1", c.Late)
	}
	if c.Fixed == 0 && len(c.Autoscalers) == 0 {
		wrong("no autoscaler, want one at least")
	}
	return errors.Join(problems...)
}
