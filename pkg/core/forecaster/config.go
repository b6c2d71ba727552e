package forecaster

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/credible"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/margin"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Config is what a Forecaster needs to know beside the history.
type Config struct {
	// Step of the series, > 0.
	Step time.Duration
	// Window is the lead window W, at least one step: the maximum over it is what the decision is about.
	Window time.Duration
	// Seasons are the cycles in which demand comes again, ascending; none means a Day. The first is also the time over which
	// candidates are judged, so that all of the cycle is in it.
	Seasons []time.Duration
	// Rate says that samples are rates: demand is then their mean over the last minute, else the last sample.
	Rate bool
	// Lookback is how long one bad sample of the demand's source may stand in it.
	Lookback time.Duration
	// Models that may serve, by name (see windowpeak.Names); empty means all. The baselines and the regression are always
	// among them.
	Models []string
	// Policy is applied at every step.
	Policy decide.Policy
	// Also are further policies, whose values are decided beside the Policy's own for those who compare many (see ValuesTo).
	// They differ from it in what is asked for alone.
	Also []decide.Policy
	// Scalings are the autoscalers that read the value; an objective needs one at least.
	Scalings []decide.Scaling
	// Horizons are calibrated beside the lead window and those that can be asked for by default.
	Horizons []time.Duration
	// Learnt is what is known of other workloads; nil means what is shipped.
	Learnt *Learnt

	// extra is a candidate beside those that there are.
	extra forecast.Model
}

// Learnt is what is known of other workloads.
type Learnt struct {
	Prior   windowpeak.Prior
	Margins margin.Priors
	// Reads and Without are windowpeak.Config's.
	Reads, Without []string
	// Multiple of the spread that is served for the Policy, and for each of the policies beside it, instead of what the
	// outcome says; 0 leaves it to that.
	Multiple []float64
}

const (
	// reach is the longest horizon that can be asked for, where four lead windows are not longer.
	reach = time.Hour
	// rateWindow is what a rate's observed demand is averaged over.
	rateWindow = time.Minute
)

// Validate returns every problem.
func (c Config) Validate() error {
	var problems []error
	if !slices.IsSorted(c.Seasons) || len(slices.Compact(slices.Clone(c.Seasons))) != len(c.Seasons) ||
		len(c.Seasons) > 0 && c.Seasons[0] <= 0 {
		problems = append(problems, fmt.Errorf("seasons %v, want them ascending and more than 0", c.Seasons))
	}
	if c.Step <= 0 {
		problems = append(problems, fmt.Errorf("step %s, want more than 0", c.Step))
	}
	if c.Window < c.Step {
		problems = append(problems, fmt.Errorf("window %s, want at least the step %s", c.Window, c.Step))
	}
	for _, p := range append([]decide.Policy{c.Policy}, c.Also...) {
		if p.ByOutcome() && p.CostRatio == 0 && !(p.Late > 0 && p.Late < 1) {
			problems = append(problems, fmt.Errorf("an objective of %v, want a share above 0 and below 1", p.Late))
		}
	}
	for _, name := range c.Models {
		if _, known := windowpeak.Canonical(name); !known {
			problems = append(problems, fmt.Errorf("unknown model %q, valid are %v", name, windowpeak.Names()))
		}
	}
	return errors.Join(problems...)
}

// replica is what the smallest replica sustains, 0 where nothing says so.
func (c Config) replica() float64 {
	replica := c.Policy.Target
	for _, s := range c.Scalings {
		if replica == 0 || s.Target() < replica {
			replica = s.Target()
		}
	}
	return replica
}

// credible is how the demand is filtered of what cannot be believed.
func (c Config) credible(windows []int) credible.Config {
	return credible.Config{
		Step: c.Step, Corroboration: credible.Corroboration(c.Lookback, c.Step), Windows: windows,
		Lead: slices.Index(windows, c.stepsIn(c.Window)), Replica: c.replica(),
	}
}

// peaks is how the window peak is forecast.
func (c Config) peaks() (windowpeak.Config, error) {
	out := windowpeak.Config{
		Step:    c.Step,
		Window:  c.Window,
		Seasons: c.Seasons,
		Windows: c.horizons(),
		Level:   c.Policy.Level(),
		Extra:   c.extra,
	}
	for _, name := range c.Models {
		if canonical, known := windowpeak.Canonical(name); known {
			name = canonical
		}
		out.Models = append(out.Models, name)
	}
	for _, s := range c.Scalings {
		up, _ := s.HPA.Tolerances()
		out.Tolerance = math.Max(out.Tolerance, up)
	}
	if c.Learnt != nil {
		out.Prior, out.Reads, out.Without = c.Learnt.Prior, c.Learnt.Reads, c.Learnt.Without
		return out, nil
	}
	var err error
	out.Prior, err = windowpeak.Shipped(c.Window)
	return out, err
}

// stepsIn is d in steps, rounded up, at least one: a window that ends between two steps includes the later one.
func (c Config) stepsIn(d time.Duration) int { return max(1, int((d+c.Step-1)/c.Step)) }

// average is how many samples the demand is the mean of.
func (c Config) average() int {
	if !c.Rate {
		return 1
	}
	return max(1, int(rateWindow/c.Step))
}

// season is the first of the Seasons, with its default.
func (c Config) season() time.Duration {
	if len(c.Seasons) == 0 {
		return windowpeak.Day
	}
	return c.Seasons[0]
}

// horizons are calibrated beside the lead window, in steps: twice that, the reach, and those asked for.
func (c Config) horizons() []int {
	w := c.stepsIn(c.Window)
	out := []int{2 * w, max(4*w, c.stepsIn(reach))}
	for _, h := range c.Horizons {
		out = append(out, c.stepsIn(h))
	}
	return out
}
