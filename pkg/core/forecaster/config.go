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

// Config is what a Forecaster needs in addition to the history.
type Config struct {
	// Step of the series, > 0.
	Step time.Duration
	// Window is the lead window, at least one step.
	Window time.Duration
	// Seasons are the demand's cycles, ascending; none means a Day. Candidates are scored over a whole cycle of the first one.
	Seasons []time.Duration
	// Starts are how long replicas take to start in the simulated autoscalers, drawn with the Seed; nil means the lead time of the
	// Settings.
	Starts sim.LeadTime
	Seed   uint64
	// DelaySteps is the number of steps between a sample and the value that is based on it. It is 1 for the refresh loop, which reads a
	// step after its end.
	DelaySteps int
	// Rate: the samples are rates, so the demand is their mean over the last minute. Otherwise, the demand is the last sample.
	Rate bool
	// Lookback is how long one bad sample of the source can affect the demand.
	Lookback time.Duration
	// Models that can be selected, by name (see windowpeak.CandidateNames); empty means the models that the settings need. The
	// baselines and the regression are always included.
	Models []string
	// Named are candidates that requests select. These candidates, and the candidates that Autoscalers select, are fitted in addition to
	// the models that the settings need. They are used only if they are selected by name. If Models is set, only the Models are fitted.
	Named []string
	// Settings are applied at every step.
	Settings decide.Settings
	// ExtraSettings are decided in addition to the Settings, to compare many at once (see ValuesTo). They differ from the Settings only in
	// the quantile, the objective or the cost ratio.
	ExtraSettings []decide.Settings
	// Autoscalers that read the served value; an objective needs at least one.
	Autoscalers []decide.Autoscaler
	// Distribute splits the value across workloads. Autoscalers then contains one autoscaler that represents all of them. nil if there is
	// only one workload.
	Distribute distribute.Maker
	// Baseline is how the workload was scaled before, for comparison.
	Baseline decide.Baseline
	// Horizons are calibrated in addition to the lead window and the default horizons.
	Horizons []time.Duration
	// Adjust contains what is known about the demand in advance.
	Adjust []adjust.Maker
	// Deadline of the deferrable work; 0 if there is none.
	Deadline time.Duration
	// KeepServedPeaks: the highest served values of the last two weeks are kept, because the Forecast is a member of a fleet.
	KeepServedPeaks bool
	// Lifetime is how long the Forecaster is stepped after its history, at most. State that is needed only later is not kept. 0 means
	// without limit.
	Lifetime time.Duration
	// Priors from other workloads; nil means the built-in ones.
	Priors *Priors
}

// Priors are learned from other workloads.
type Priors struct {
	WindowPeak windowpeak.Prior
	Headroom   objective.Priors
	// RegressionInputs are the RegressionInputs of windowpeak.Config.
	RegressionInputs []string
}

const (
	// defaultMaxHorizon is the longest horizon that a request can select, unless four lead windows are longer.
	defaultMaxHorizon = time.Hour
	// rateWindow is the time over which the observed demand of a rate is averaged.
	rateWindow = time.Minute
)

// replicaCapacity is the demand that a replica sustains, the smallest of all autoscalers; 0 if it is unknown.
func (c Config) replicaCapacity() float64 {
	replica, least := c.Settings.Target, decide.SmallestTarget(c.Autoscalers)
	return min(cmp.Or(replica, least), cmp.Or(least, replica))
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
		Models:    []string{},          // No models. nil would mean all models.
		SkipQuiet: c.Settings.BadHours, // Other objectives do not postpone fits.
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
// than a quantile. Neither selects the ensemble unless Models contains it, because the ensemble forecasts hours outside the steps (see
// Hours).
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

// names reports whether a candidate is fitted because a request or an autoscaler selects it by name.
func (c Config) names(name string) bool {
	return len(c.Models) == 0 && (slices.Contains(c.Named, name) ||
		slices.ContainsFunc(c.Autoscalers, func(s decide.Autoscaler) bool { return s.Candidate == name }))
}

// stepsIn is d in steps, rounded up, at least one.
func (c Config) stepsIn(d time.Duration) int { return max(1, int((d+c.Step-1)/c.Step)) }

// horizons are the horizons that are calibrated in addition to the lead window, in steps: two lead windows, the maximum horizon, and the
// configured horizons.
func (c Config) horizons() []int {
	w := c.stepsIn(c.Window)
	out := []int{2 * w, max(4*w, c.stepsIn(defaultMaxHorizon))}
	for _, h := range c.Horizons {
		out = append(out, c.stepsIn(h))
	}
	return out
}
