package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpasim"
)

// Config is a workload and the demand that it meets. Zero durations have defaults, see workload.Spec.
type Config struct {
	// Demand is the total that arrives, in the metric's unit; NaN is a step in which nothing arrived and nothing was
	// observed. Its step is that of the queue.
	Demand forecast.Series
	// Spec is the workload. Its sync is a whole number of the demand's steps.
	hpasim.Spec
	// Refresh is how often the policy is asked: a whole number of syncs. 0 means at every sync.
	Refresh time.Duration
	// Pool, if not nil, says at every refresh how many places wait for replicas. It is asked before the policy is.
	Pool Pool
	// WarmUp is how much of the demand's start is played without being counted.
	WarmUp time.Duration
	// Record, if not nil, sees every step, those of the warm-up included.
	Record func(hpasim.Moment)
}

// filled has the defaults in place of zeros.
func (c Config) filled() Config {
	c.Spec = c.WithDefaults()
	c.Refresh = cmp.Or(c.Refresh, c.Sync)
	return c
}

// Validate returns every problem.
func (c Config) Validate() error {
	filled := c.filled()
	_, notSyncs := wholeSteps(filled.Sync, filled.Refresh)
	problems := []error{c.Spec.Validate(c.Demand.Step), checkDemand(c.Demand), notSyncs}
	if c.WarmUp < 0 {
		problems = append(problems, fmt.Errorf("a warm-up of %s, want 0 or more", c.WarmUp))
	}
	return errors.Join(problems...)
}

// checkDemand reports values that are no demand.
func checkDemand(s forecast.Series) error {
	if err := s.Check(0); err != nil {
		return fmt.Errorf("demand: %w", err)
	}
	for i, v := range s.Values {
		if v < 0 || v >= hpasim.MostValue {
			return fmt.Errorf("demand: value %d is %v, want 0 or more and less than %v, or NaN for a gap; "+
				"where it is too large, state it in a larger unit", i, v, float64(hpasim.MostValue))
		}
	}
	return nil
}

// wholeSteps is how many steps there are in a period, which must be a whole number of them.
func wholeSteps(step, period time.Duration) (int, error) {
	if step <= 0 || period < step || period%step != 0 {
		return 0, fmt.Errorf("a period of %s and a step of %s, want a whole number of steps", period, step)
	}
	return int(period / step), nil
}
