package manifest

import (
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// The defaults of a Forecast. StaleAfter has none here: it follows from the lead window.
const (
	DefaultAPIVersion = "apps/v1"
	DefaultHistory    = v1alpha1.Duration("14d")
	DefaultStep       = v1alpha1.Duration("30s")
	DefaultFallback   = v1alpha1.Duration("5m")
	DefaultLate       = "1%"
	DefaultWait       = v1alpha1.Duration("30s")
	DefaultOver       = v1alpha1.Duration("7d")
	DefaultServe      = v1alpha1.ServeFloor
)

// DefaultNamespace is the namespace of an object in a folder that names none.
const DefaultNamespace = "default"

// The limits of a Forecast. They bound the memory, queries and time that one object can cost.
const (
	// MinStep is the shortest step; steps are whole seconds.
	MinStep = time.Second
	// MaxPoints bounds history ÷ step: 14 days at 15 s are 80,640.
	MaxPoints = 120_000
	// MinPoints is the shortest history, in steps.
	MinPoints = 10
	// MaxHistory bounds how far back a query may ask.
	MaxHistory = 400 * 24 * time.Hour
	// MaxLead is the longest lead time.
	MaxLead = 2 * time.Hour
	// MaxWindowSteps bounds the lead window ÷ step: models forecast every step of it at every refresh.
	MaxWindowSteps = 1_000
	// MaxDelay is the most that a source may lag.
	MaxDelay = 30 * time.Minute
	// MaxStaleAfter is the longest that a value may be served without a new sample.
	MaxStaleAfter = 24 * time.Hour
	// MaxWait is the longest wait of an objective.
	MaxWait = time.Hour
	// MaxCostRatio is the largest cost ratio.
	MaxCostRatio = 1_000_000
	// MaxSeasons bounds the list of seasons.
	MaxSeasons = 2
	// MaxFormerNames bounds the former names of a workload: each makes the query of a preset longer.
	MaxFormerNames = 4
	// MaxLabels bounds the labels of an alias.
	MaxLabels = 16
	// MaxModels bounds the list of models.
	MaxModels = 16
	// MaxQuery bounds a query, in bytes.
	MaxQuery = 8192
)

// withDefaults returns a copy of a spec with its defaults. Contradictions stay, for the validation to find: a
// quantile or a cost ratio gets no objective, a duration without a mode gets no mode.
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
		setDefault(&s.Objective.Late, DefaultLate)
		setDefault(&s.Objective.Wait, DefaultWait)
		setDefault(&s.Objective.Over, defaultOver(s.History))
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

// defaultOver is the default of a budget's period: at most the history.
func defaultOver(history v1alpha1.Duration) v1alpha1.Duration {
	most, err := model.ParseDuration(string(DefaultOver))
	if h, wrong := model.ParseDuration(string(history)); err == nil && wrong == nil && h < most {
		return v1alpha1.Duration(model.Duration(max(time.Duration(h).Truncate(time.Hour), time.Hour)).String())
	}
	return DefaultOver
}

// setDefault sets an empty value.
func setDefault[T ~string](value *T, fallback T) {
	if *value == "" {
		*value = fallback
	}
}
