package manifest

import (
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
)

// Advice is what a valid spec should rather not ask for, and what to write instead; empty if there is nothing to say.
func Advice(spec *v1alpha1.ForecastSpec) string {
	o := withDefaults(spec).Objective
	if o == nil || o.BadHours == "" {
		return ""
	}
	over, err := model.ParseDuration(string(o.Over))
	if err != nil {
		return "" // The validation says so.
	}
	return objective.ShortPeriodAdvice(time.Duration(over))
}
