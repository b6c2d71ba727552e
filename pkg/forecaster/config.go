package forecaster

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/credible"
	"github.com/forewarm/forewarm/pkg/decide"
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
	// Models that may serve, by name (see Names); empty means all. The free ones are always among them.
	Models []string
	// Policy is applied at every step.
	Policy decide.Policy
	// Scalings are the autoscalers that read the value; an objective needs one at least.
	Scalings []decide.Scaling
}

// Day is the season of what people do.
const Day = 24 * time.Hour

// The constants of calibration.
const (
	// reach is the longest horizon that can be asked for, where four lead windows are not longer.
	reach = time.Hour
	// scoreCount scores are kept for each candidate over the lead window: of a day one every four minutes. A third of
	// that serves the other horizons, of which there are several.
	scoreCount = 360
	// fewest scores with which a quantile is called calibrated.
	fewest = 40
	// rateWindow is what a rate's observed demand is averaged over.
	rateWindow = time.Minute
	// adaptRate is the step of the adaptive level (Gibbs & Candès 2021 advise about 0.005).
	adaptRate = 0.005
)

// Validate returns every problem.
func (c Config) Validate() error {
	var problems []error
	if !ascending(c.Seasons) {
		problems = append(problems, fmt.Errorf("seasons %v, want them ascending and more than 0", c.Seasons))
	}
	if c.Step <= 0 {
		problems = append(problems, fmt.Errorf("step %s, want more than 0", c.Step))
	}
	if c.Window < c.Step {
		problems = append(problems, fmt.Errorf("window %s, want at least the step %s", c.Window, c.Step))
	}
	for _, name := range c.Models {
		if !known(name) {
			problems = append(problems, fmt.Errorf("unknown model %q, valid are %v", name, Names()))
		}
	}
	return errors.Join(problems...)
}

// Credible is how a demand is filtered of what cannot be believed, where one bad sample of its source may stand in it for a
// while.
func (c Config) Credible(lookback time.Duration) credible.Config {
	windows := c.horizons()
	replica := c.Policy.Target
	for _, s := range c.Scalings {
		if replica == 0 || s.Target() < replica {
			replica = s.Target()
		}
	}
	return credible.Config{
		Step: c.Step, Corroboration: credible.Corroboration(lookback, c.Step), Windows: windows,
		Lead: slices.Index(windows, c.stepsIn(c.Window)), Replica: replica,
	}
}

// stepsIn is d in steps, rounded up, at least one: a window that ends between two steps includes the later one.
func (c Config) stepsIn(d time.Duration) int {
	return max(1, int((d+c.Step-1)/c.Step))
}

// average is how many samples the demand is the mean of.
func (c Config) average() int {
	if !c.Rate {
		return 1
	}
	return max(1, int(rateWindow/c.Step))
}

func ascending(seasons []time.Duration) bool {
	least := time.Duration(1)
	for _, season := range seasons {
		if season < least {
			return false
		}
		least = season + 1
	}
	return true
}

// cycles are the seasons, with their default.
func (c Config) cycles() []time.Duration {
	if len(c.Seasons) == 0 {
		return []time.Duration{Day}
	}
	return c.Seasons
}

// cycle is the first season.
func (c Config) cycle() time.Duration { return c.cycles()[0] }

// seasons are the numbers of steps in those seasons that are a whole number of them, two or more.
func (c Config) seasons() []int {
	var out []int
	for _, cycle := range c.cycles() {
		if n := c.whole(cycle); n > 0 {
			out = append(out, n)
		}
	}
	return out
}

// season is the number of steps in the first season, 0 where it is no whole number of them.
func (c Config) season() int { return c.whole(c.cycle()) }

// whole is a cycle in steps, 0 where it is no whole number of them, two or more.
func (c Config) whole(cycle time.Duration) int {
	if cycle%c.Step != 0 || cycle < 2*c.Step {
		return 0
	}
	return int(cycle / c.Step)
}

// replay is how many steps of a history, at its end, candidates are scored on before they serve: a season, and at most
// half of what there is.
func (c Config) replay(history int) int { return min(c.stepsIn(c.cycle()), history/2) }

// horizons are the windows that are calibrated, in steps, ascending: one step, the lead window, twice that, the reach.
func (c Config) horizons() []int {
	w := c.stepsIn(c.Window)
	out := []int{1}
	for _, h := range []int{w, 2 * w, max(4*w, c.stepsIn(reach))} {
		if h > out[len(out)-1] {
			out = append(out, h)
		}
	}
	return out
}
