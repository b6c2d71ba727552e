package config

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/windowpeak"
)

// policy reads what is asked of the served value: a quantile, a cost ratio or an objective, of which a defaulted spec has
// one at least.
func (r *reader) policy(path *field.Path, spec *v1alpha1.ForecastSpec) decide.Policy {
	out := decide.Policy{
		Quantile:  r.quantile(path.Child("quantile"), spec.Quantile),
		CostRatio: r.costRatio(path.Child("costRatio"), spec.CostRatio),
		Mode:      r.mode(path.Child("serve"), spec.Serve),
	}
	const one = "objective, quantile and costRatio exclude each other, keep one"
	if spec.Quantile != "" && spec.CostRatio != "" {
		r.add(field.Forbidden(path.Child("costRatio"), one))
	}
	if spec.Objective == nil {
		return out
	}
	out.Late, out.Wait = r.objective(path.Child("objective"), spec.Objective)
	if spec.Quantile != "" || spec.CostRatio != "" {
		r.add(field.Forbidden(path.Child("objective"), one))
	}
	return out
}

func (r *reader) quantile(path *field.Path, text string) float64 {
	if text == "" {
		return 0
	}
	q, ok := decimal(text)
	if !ok || !(q >= windowpeak.Lowest && q <= windowpeak.Highest) {
		r.add(field.Invalid(path, text,
			fmt.Sprintf("write a number from %v to %v, for example \"0.95\"", windowpeak.Lowest, windowpeak.Highest)))
		return 0
	}
	return q
}

func (r *reader) costRatio(path *field.Path, text string) float64 {
	if text == "" {
		return 0
	}
	ratio, ok := decimal(text)
	if !ok || !(ratio > 0 && ratio <= MaxCostRatio) {
		r.add(field.Invalid(path, text,
			fmt.Sprintf("write a number above 0, at most %d, for example \"20\"", MaxCostRatio)))
		return 0
	}
	return ratio
}

// objective reads the share of demand that may be late and the wait beyond which it is.
func (r *reader) objective(path *field.Path, o *v1alpha1.Objective) (late float64, wait time.Duration) {
	wait = r.duration(path.Child("wait"), o.Wait, time.Second, MaxWait)
	number, isPercentage := strings.CutSuffix(o.Late, "%")
	percent, ok := decimal(number)
	if !isPercentage || !ok || !(percent > 0 && percent < 100) {
		r.add(
			field.Invalid(path.Child("late"), o.Late, "write a percentage above 0% and below 100%, for example \"1%\""),
		)
		return 0, wait
	}
	return percent / 100, wait
}
