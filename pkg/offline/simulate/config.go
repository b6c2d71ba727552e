package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// Config is a workload and its demand. Zero durations have defaults, see sim.Spec.
type Config struct {
	// Demand is the total that arrives, in the metric's unit; NaN is a step in which nothing arrived and nothing was
	// observed. The queue has the same step.
	Demand forecast.Series
	// Deferrable is additional work that may wait until the Spec's Deadline. It has the grid and the length of the demand, or is
	// empty.
	Deferrable forecast.Series
	// Spec is the workload. Its sync period must be a whole number of steps of the demand.
	sim.Spec
	// Refresh is how often the policy serves a new value: a whole number of syncs. 0 means at every sync.
	Refresh time.Duration
	// Pool, if not nil, returns at every refresh how many places to hold. It comes before the policy.
	Pool Pool
	// WarmUp is how much of the demand's start is simulated without being counted.
	WarmUp time.Duration
	// Record, if not nil, gets every step, including those of the warm-up.
	Record func(sim.StepResult)
}

// withDefaults replaces zeros by defaults.
func (c Config) withDefaults() Config {
	c.Spec = c.WithDefaults()
	c.Refresh = cmp.Or(c.Refresh, c.Sync)
	return c
}

// Validate returns every problem.
func (c Config) Validate() error {
	filled := c.withDefaults()
	_, notSyncs := wholeSteps(filled.Sync, filled.Refresh)
	problems := []error{c.Spec.Validate(c.Demand.Step), validateDemand(c.Demand), notSyncs}
	if n := c.Deferrable.Len(); n > 0 && (n != c.Demand.Len() || c.Deadline <= 0) {
		problems = append(problems, errors.New("deferrable work needs a deadline, and must be as long as the demand"))
	}
	if c.WarmUp < 0 {
		problems = append(problems, fmt.Errorf("a warm-up of %s; expected 0 or more", c.WarmUp))
	}
	return errors.Join(problems...)
}

// validateDemand reports values that cannot be demand.
func validateDemand(s forecast.Series) error {
	if err := s.Check(0); err != nil {
		return fmt.Errorf("demand: %w", err)
	}
	for i, v := range s.Values {
		if v < 0 || v >= hpa.MaxValue {
			return fmt.Errorf("demand: value %d is %v; expected 0 or more and less than %v, or NaN for a gap; "+
				"if the value is too large, use a larger unit", i, v, float64(hpa.MaxValue))
		}
	}
	return nil
}

// wholeSteps returns the number of steps in a period. The period must be a whole number of steps.
func wholeSteps(step, period time.Duration) (int, error) {
	if step <= 0 || period < step || period%step != 0 {
		return 0, fmt.Errorf(
			"a period of %s with a step of %s; the period must be a whole number of steps",
			period,
			step,
		)
	}
	return int(period / step), nil
}
