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
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Reference is one metric of an autoscaler that names a Forecast. It holds nothing of the object that it was read from.
type Reference struct {
	// Forecast that is named, in the autoscaler's own namespace.
	Forecast snapshot.Key
	// By is the autoscaler: "HorizontalPodAutoscaler/llama" or "ScaledObject/llama".
	By string
	// Scales is the workload that it scales.
	Scales leadtime.Workload
	// Spec is how it scales on this metric. The metric's target is 0 where it is left to the Forecast to say (a trigger of
	// KEDA may).
	Spec hpa.Spec
	// Candidate is the model that it asks for, by its canonical name; empty for the one that is selected.
	Candidate string
	// Refused says why the metric cannot count, and what to write instead; empty where it can.
	Refused string
}

// total is how an autoscaler scales on one metric, a total that is compared with what a replica sustains, or why that cannot
// count. How many replicas there may be is its object's to say.
func total(
	name string, source hpa.Source, target int64, b *autoscalingv2.HorizontalPodAutoscalerBehavior,
) (spec hpa.Spec, refused string) {
	behavior, err := readBehavior(b)
	if err != nil {
		return hpa.Spec{}, "its behavior is none: " + err.Error()
	}
	return hpa.Spec{
		Min: 1, Metrics: []hpa.Metric{{Name: name, Source: source, Type: hpa.AverageValue, Target: target}},
		Behavior: behavior, Cluster: hpa.DefaultCluster(),
	}, ""
}

// most is the first value whose thousandths overflow an int64.
const most = math.MaxInt64 / 1000

// thousandths is a target in milli-units, rounded up as the HPA's controller does; or why it is none.
func thousandths(target *resource.Quantity) (milli int64, problem string) {
	switch {
	case target == nil || target.Sign() <= 0:
		return 0, "its averageValue is not above 0: write what one replica sustains"
	case target.AsApproximateFloat64() >= most:
		return 0, fmt.Sprintf("its averageValue is not below %.3g: state the demand in a larger unit", float64(most))
	}
	return target.MilliValue(), ""
}

// judge says which candidate the view of a Forecast is by that a metric asks for, empty for the one that is selected, and why
// the view cannot count; empty where it can. A view with another objective or another mode is of the same workload; one of
// another horizon, or a quantile, is not what the objective rules.
func judge(asked map[string]string) (candidate, refused string) {
	selection, err := decide.ParseSelection(asked)
	candidate, known := windowpeak.Canonical(selection.Model)
	switch {
	case err != nil:
		return "", "what it asks for is refused: " + err.Error()
	case selection.Model != "" && !known:
		return "", fmt.Sprintf("it asks for model=%.64s, and there are %s", selection.Model,
			strings.Join(windowpeak.Names(), ", "))
	case selection.Quantile != 0:
		return "", fmt.Sprintf("it asks for quantile=%v, which no objective rules", selection.Quantile)
	case selection.Horizon != 0:
		return "", fmt.Sprintf("it asks for horizon=%s, which no objective rules", selection.Horizon)
	}
	return candidate, ""
}

// readBehavior is a behavior with what the API server fills in: as soon as there is one, everything that it leaves out. Without
// one there is none, which is another algorithm (see hpa.Spec).
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

// readRules are the rules of one direction over its defaults.
func readRules(direction string, from *autoscalingv2.HPAScalingRules, rules hpa.Rules) (hpa.Rules, error) {
	if from == nil {
		return rules, nil
	}
	if seconds := from.StabilizationWindowSeconds; seconds != nil {
		if *seconds < 0 {
			// In hpa.Rules that would stand for the cluster's own.
			return hpa.Rules{}, fmt.Errorf("%s: stabilizationWindowSeconds %d: want 0 or more", direction, *seconds)
		}
		rules.Stabilization = inSeconds(*seconds)
	}
	if from.SelectPolicy != nil {
		rules.Select = hpa.Select(*from.SelectPolicy)
	}
	if from.Policies != nil {
		rules.Policies = make([]hpa.Policy, len(from.Policies))
		for i, p := range from.Policies {
			rules.Policies[i] = hpa.Policy{
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
