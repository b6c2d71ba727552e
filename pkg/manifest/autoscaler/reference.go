package autoscaler

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// averageValueSpec returns how an autoscaler scales on one metric: a total, compared with what a replica sustains; or
// why it is refused. The caller sets the bounds of the replicas.
func averageValueSpec(
	name string, source hpa.MetricType, target int64, b *autoscalingv2.HorizontalPodAutoscalerBehavior,
) (spec hpa.Spec, refused string) {
	behavior, err := readBehavior(b)
	if err != nil {
		return hpa.Spec{}, "its behavior is invalid: " + err.Error()
	}
	return hpa.Spec{
		Min: 1, Metrics: []hpa.Metric{{Name: name, Source: source, Type: hpa.AverageValue, Target: target}},
		Behavior: behavior, Cluster: hpa.DefaultCluster(),
	}, ""
}

// maxValue is the first value whose thousandths overflow an int64.
const maxValue = math.MaxInt64 / 1000

// parseAverageValue returns a target in thousandths, rounded up like the HPA's controller does, or why it is invalid.
func parseAverageValue(target *resource.Quantity) (milli int64, problem string) {
	switch {
	case target == nil || target.Sign() <= 0:
		return 0, "its averageValue is not above 0: write what one replica sustains"
	case target.AsApproximateFloat64() >= maxValue:
		return 0, fmt.Sprintf("its averageValue is not below %.3g: state the demand in a larger unit",
			float64(maxValue))
	}
	return target.MilliValue(), ""
}

// parseSelection returns the candidate that a metric selects (empty for the Forecast's own), and why the selection is
// refused. A selection with another objective or mode is calibrated like the Forecast. The objective does not apply
// to another horizon or to a quantile.
func parseSelection(asked map[string]string) (candidate, refused string) {
	selection, err := decide.ParseSelector(asked)
	candidate, known := windowpeak.CanonicalName(selection.Model)
	switch {
	case err != nil:
		return "", "its selector is invalid: " + err.Error()
	case selection.Model != "" && !known:
		return "", fmt.Sprintf("its selector has model=%.64s, known models are %s", selection.Model,
			strings.Join(windowpeak.CandidateNames(), ", "))
	case selection.Quantile != 0:
		return candidate, fmt.Sprintf("its selector has quantile=%v, to which no objective applies: remove it",
			selection.Quantile)
	case selection.Horizon != 0:
		return candidate, fmt.Sprintf("its selector has horizon=%s, to which no objective applies: remove it",
			selection.Horizon)
	}
	return candidate, ""
}

// readBehavior returns a behavior with the API server's defaults. Without a behavior the controller uses another
// algorithm (see hpa.Spec).
func readBehavior(b *autoscalingv2.HorizontalPodAutoscalerBehavior) (*hpa.Behavior, error) {
	if b == nil {
		return nil, nil //nolint:nilnil // No behavior is one of the two that there are.
	}
	up, errUp := readRules("scaleUp", b.ScaleUp, hpa.DefaultScaleUp())
	down, errDown := readRules("scaleDown", b.ScaleDown, hpa.DefaultScaleDown())
	if err := errors.Join(errUp, errDown); err != nil {
		return nil, err
	}
	return &hpa.Behavior{Up: up, Down: down}, nil
}

// readRules returns the rules of one direction, with its defaults.
func readRules(direction string, from *autoscalingv2.HPAScalingRules, rules hpa.Rules) (hpa.Rules, error) {
	if from == nil {
		return rules, nil
	}
	if seconds := from.StabilizationWindowSeconds; seconds != nil {
		if *seconds < 0 {
			// In hpa.Rules a negative window means the cluster's default.
			return hpa.Rules{}, fmt.Errorf("%s: stabilizationWindowSeconds %d: want 0 or more", direction, *seconds)
		}
		rules.Stabilization = inSeconds(*seconds)
	}
	if from.SelectPolicy != nil {
		rules.Select = hpa.Select(*from.SelectPolicy)
	}
	if from.Policies != nil {
		rules.Policies = make([]hpa.ScalingPolicy, len(from.Policies))
		for i, p := range from.Policies {
			rules.Policies[i] = hpa.ScalingPolicy{
				Type: hpa.PolicyType(p.Type), Value: p.Value, Period: inSeconds(p.PeriodSeconds),
			}
		}
	}
	if from.Tolerance != nil {
		tolerance := from.Tolerance.AsApproximateFloat64()
		rules.Tolerance = &tolerance
	}
	return rules, nil
}

func inSeconds(n int32) time.Duration { return time.Duration(n) * time.Second }
