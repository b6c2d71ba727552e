package config

import "github.com/forewarm/forewarm/pkg/api/v1alpha1"

// The defaults of a Forecast, as its author would write them. StaleAfter has none here: it follows from the lead window.
const (
	DefaultAPIVersion = "apps/v1"
	DefaultHistory    = v1alpha1.Duration("14d")
	DefaultStep       = v1alpha1.Duration("30s")
	DefaultFallback   = v1alpha1.Duration("5m")
	DefaultLate       = "1%"
	DefaultWait       = v1alpha1.Duration("30s")
	DefaultServe      = v1alpha1.ServeFloor
)

// DefaultNamespace is that of an object in a folder that names none.
const DefaultNamespace = "default"

// defaulted is a copy of a spec with its defaults filled in. What contradicts itself stays so, for the validation to
// find: a quantile and a cost ratio get no objective beside them, a duration without a mode stays without.
func defaulted(spec *v1alpha1.ForecastSpec) *v1alpha1.ForecastSpec {
	s := spec.DeepCopy()
	fill(&s.TargetRef.APIVersion, DefaultAPIVersion)
	fill(&s.History, DefaultHistory)
	fill(&s.Step, DefaultStep)
	fill(&s.Serve, DefaultServe)
	if s.Quantile == "" && s.CostRatio == "" && s.Objective == nil {
		s.Objective = &v1alpha1.Objective{}
	}
	if s.Objective != nil {
		fill(&s.Objective.Late, DefaultLate)
		fill(&s.Objective.Wait, DefaultWait)
	}
	if s.LeadTime == nil {
		s.LeadTime = &v1alpha1.LeadTime{}
	}
	fill(&s.LeadTime.Mode, v1alpha1.LeadTimeAuto)
	if s.LeadTime.Mode == v1alpha1.LeadTimeAuto {
		fill(&s.LeadTime.Fallback, DefaultFallback)
	}
	return s
}

// fill sets what is empty.
func fill[T ~string](value *T, fallback T) {
	if *value == "" {
		*value = fallback
	}
}
