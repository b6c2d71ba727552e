package forecaster

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/adjust"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/distribute"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Config is what a Forecaster needs beside the history.
type Config struct {
	// Step of the series, > 0.
	Step time.Duration
	// Window is the lead window, at least one step.
	Window time.Duration
	// Seasons are the demand's cycles, ascending; none means a Day. Candidates are scored over the first one, so that a whole
	// cycle counts.
	Seasons []time.Duration
	// Starts are how long replicas take to start in the simulated autoscalers, drawn with the Seed; nil means the lead time of the
	// Settings.
	Starts sim.LeadTime
	Seed   uint64
	// DelaySteps is how many steps after a sample the value that it leads to is served. The refresh loop reads a step when it has
	// ended: 1.
	DelaySteps int
	// Rate means that samples are rates: demand is their mean over the last minute, else the last sample.
	Rate bool
	// Lookback is how long one bad sample of the source can affect the demand.
	Lookback time.Duration
	// Models that may be selected, by name (see windowpeak.CandidateNames); empty means those that the settings read. The
	// baselines and the regression are always included.
	Models []string
	// Named are candidates that requests name. With those that Autoscalers name they are fitted beside the models that the
	// settings read, to be answered by name alone. If there are Models, only these are fitted.
	Named []string
	// Settings are applied at every step.
	Settings decide.Settings
	// ExtraSettings are decided beside the Settings, to compare many at once (see ValuesTo). They differ from it in the quantile,
	// the objective or the cost ratio only.
	ExtraSettings []decide.Settings
	// Autoscalers that read the served value; an objective needs at least one.
	Autoscalers []decide.Autoscaler
	// Distribute shares the value out; the Autoscalers then have one that stands for all. nil where there is one workload.
	Distribute distribute.Maker
	// Baseline is how the workload was scaled before, to compare with.
	Baseline decide.Baseline
	// Horizons are calibrated beside the lead window and the default ones.
	Horizons []time.Duration
	// Adjust is what is known of the demand beforehand.
	Adjust []adjust.Maker
	// Deadline of the work that may wait; 0 where there is none.
	Deadline time.Duration
	// Lifetime is how long it is stepped after its history, at most: what is of use only later is not kept. 0 means for ever.
	Lifetime time.Duration
	// Priors from other workloads; nil means the built-in ones.
	Priors *Priors
}

// Priors are what is learnt from other workloads.
type Priors struct {
	WindowPeak windowpeak.Prior
	Headroom   objective.Priors
	// RegressionInputs are windowpeak.Config's.
	RegressionInputs []string
}

const (
	// defaultMaxHorizon is the longest horizon that a request can ask for, unless four lead windows are longer.
	defaultMaxHorizon = time.Hour
	// rateWindow is what a rate's observed demand is averaged over.
	rateWindow = time.Minute
)

// replicaCapacity is the demand that a replica sustains, the smallest of all autoscalers; 0 if it is unknown.
func (c Config) replicaCapacity() float64 {
	replica := c.Settings.Target
	for _, s := range c.Autoscalers {
		replica = min(cmp.Or(replica, s.Target()), s.Target())
	}
	return replica
}

// credibleConfig is the configuration of the filter for suspects.
func (c Config) credibleConfig(windows []int) demand.FilterConfig {
	return demand.FilterConfig{
		Step: c.Step, Corroboration: demand.Corroboration(c.Lookback, c.Step), Windows: windows,
		Lead: slices.Index(windows, c.stepsIn(c.Window)), Replica: c.replicaCapacity(),
	}
}

// windowPeakConfig is the configuration of the window peak forecast.
func (c Config) windowPeakConfig() (windowpeak.Config, error) {
	out := windowpeak.Config{
		Step: c.Step, Window: c.Window, Seasons: c.Seasons, Windows: c.horizons(), Level: c.Settings.Level(),
		Models:    []string{},          // None, and not all.
		SkipQuiet: c.Settings.BadHours, // Values of the other objectives stay as they were.
	}
	for _, name := range windowpeak.FittedModels() {
		if c.selects(name) || c.names(name) {
			out.Models = append(out.Models, name)
		}
	}
	for _, s := range c.Autoscalers {
		up, _ := s.HPA.Tolerances()
		out.Tolerance = math.Max(out.Tolerance, up)
	}
	if c.Priors != nil {
		out.Prior, out.RegressionInputs = c.Priors.WindowPeak, c.Priors.RegressionInputs
		return out, nil
	}
	var err error
	out.Prior, err = windowpeak.BuiltinPrior(c.Window)
	return out, err
}

// selects reports whether a candidate may be selected, or whether the regression reads it. An objective selects from fewer models
// than a quantile. Neither selects the ensemble unless the Models have it: it forecasts hours, beside the steps (see Hours).
func (c Config) selects(name string) bool {
	byHeadroom := len(c.Autoscalers) > 0 && c.Settings.ByHeadroom() &&
		!slices.ContainsFunc(c.ExtraSettings, func(p decide.Settings) bool { return !p.ByHeadroom() })
	switch {
	case !slices.Contains(windowpeak.FittedModels(), name):
		return true
	case len(c.Models) > 0:
		return slices.ContainsFunc(c.Models, func(m string) bool {
			canonical, _ := windowpeak.CanonicalName(m)
			return canonical == name
		})
	case c.Priors != nil && slices.Contains(c.Priors.RegressionInputs, name):
		return true
	case byHeadroom:
		return slices.Contains(objective.DefaultCandidates(), name)
	default:
		return name != windowpeak.Auto
	}
}

// names reports whether a candidate is fitted because a request or an autoscaler names it.
func (c Config) names(name string) bool {
	return len(c.Models) == 0 && (slices.Contains(c.Named, name) ||
		slices.ContainsFunc(c.Autoscalers, func(s decide.Autoscaler) bool { return s.Candidate == name }))
}

// stepsIn is d in steps, rounded up, at least one.
func (c Config) stepsIn(d time.Duration) int { return max(1, int((d+c.Step-1)/c.Step)) }

// season is the first of the Seasons, or the default.
func (c Config) season() time.Duration {
	if len(c.Seasons) == 0 {
		return windowpeak.Day
	}
	return c.Seasons[0]
}

// horizons are calibrated beside the lead window, in steps: twice that, the max horizon, and those configured.
func (c Config) horizons() []int {
	w := c.stepsIn(c.Window)
	out := []int{2 * w, max(4*w, c.stepsIn(defaultMaxHorizon))}
	for _, h := range c.Horizons {
		out = append(out, c.stepsIn(h))
	}
	return out
}
