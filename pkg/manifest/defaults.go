package manifest

import (
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
)

// Defaults of a Forecast. StaleAfter has none here, because it depends on the lead window.
const (
	DefaultAPIVersion = "apps/v1"
	DefaultHistory    = v1alpha1.Duration("14d")
	DefaultStep       = v1alpha1.Duration("30s")
	DefaultFallback   = v1alpha1.Duration("5m")
	DefaultBadHours   = "1%"
	DefaultWait       = v1alpha1.Duration("30s")
	// DefaultOver is the default of a budget's period for late demand, DefaultOverBadHours for bad hours, which are few.
	DefaultOver         = v1alpha1.Duration("7d")
	DefaultOverBadHours = v1alpha1.Duration("14d")
	DefaultServe        = v1alpha1.ServeFloor
)

// DefaultNamespace is the namespace of an object in a folder that names none.
const DefaultNamespace = "default"

// Limits of a Forecast. They limit the memory, queries and time that one object can cost.
const (
	MinStep        = time.Second          // Steps are whole seconds.
	MinPoints      = 10                   // The shortest history, in steps.
	MaxPoints      = 120_000              // History ÷ step: 14 days at 15 s are 80,640.
	MaxHistory     = 400 * 24 * time.Hour // How far back a query may ask.
	MaxLead        = 2 * time.Hour        // The longest lead time.
	MaxWindowSteps = 1_000                // Lead window ÷ step: models forecast each of these steps at every refresh.
	MaxDelay       = 30 * time.Minute     // The largest delay of a source.
	MaxStaleAfter  = 24 * time.Hour       // How long a value may be served without a new sample.
	MaxWait        = time.Hour            // The longest wait of an objective.
	MaxCostRatio   = 1_000_000
	MaxSeasons     = 2
	MaxFormerNames = 4 // Each name makes the query of a preset longer.
	MaxLabels      = 16
	MaxModels      = 16
	MaxQuery       = 8192 // In bytes.
)

// withDefaults returns a copy of a spec with its defaults. It keeps contradictions so that the validation can find them: a spec with a
// quantile or a cost ratio gets no objective, and a lead time with a duration but no mode gets no mode.
func withDefaults(spec *v1alpha1.ForecastSpec) *v1alpha1.ForecastSpec {
	s := spec.DeepCopy()
	setDefault(&s.TargetRef.APIVersion, DefaultAPIVersion)
	setDefault(&s.History, DefaultHistory)
	setDefault(&s.Step, DefaultStep)
	setDefault(&s.Serve, DefaultServe)
	if s.Quantile == "" && s.CostRatio == "" && s.Objective == nil {
		s.Objective = &v1alpha1.Objective{}
	}
	if s.Objective != nil {
		over := DefaultOver
		if s.Objective.Late == "" {
			over = DefaultOverBadHours
			setDefault(&s.Objective.BadHours, DefaultBadHours)
		}
		setDefault(&s.Objective.Wait, DefaultWait)
		setDefault(&s.Objective.Over, atMostHistory(over, s.History))
	}
	if s.LeadTime == nil {
		s.LeadTime = &v1alpha1.LeadTime{}
	}
	setDefault(&s.LeadTime.Mode, v1alpha1.LeadTimeAuto)
	if s.LeadTime.Mode == v1alpha1.LeadTimeAuto {
		setDefault(&s.LeadTime.Fallback, DefaultFallback)
	}
	return s
}

// Advice is what a valid spec should rather not ask for, and what to write instead; empty if there is nothing to say.
func Advice(spec *v1alpha1.ForecastSpec) string {
	o := withDefaults(spec).Objective
	if o == nil || o.BadHours == "" {
		return ""
	}
	over, err := model.ParseDuration(string(o.Over))
	if err != nil {
		return "" // The validation reports it.
	}
	return objective.ShortPeriodAdvice(time.Duration(over))
}

// atMostHistory returns the default period of a budget, limited to the length of the history.
func atMostHistory(over, history v1alpha1.Duration) v1alpha1.Duration {
	most, err := model.ParseDuration(string(over))
	if h, wrong := model.ParseDuration(string(history)); err == nil && wrong == nil && h < most {
		return v1alpha1.Duration(model.Duration(max(time.Duration(h).Truncate(time.Hour), time.Hour)).String())
	}
	return over
}

// setDefault sets a value if it is empty.
func setDefault[T ~string](value *T, fallback T) {
	if *value == "" {
		*value = fallback
	}
}
