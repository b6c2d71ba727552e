package autoscaler

import (
	"errors"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/forewarm/forewarm/pkg/hpa"
)

// readBehavior is a behavior with what the API server fills in: as soon as there is one, everything that it leaves out. Without
// one there is none, which is another algorithm (see hpa.Spec).
func readBehavior(b *autoscalingv2.HorizontalPodAutoscalerBehavior) (*hpa.Behavior, error) {
	if b == nil {
		return nil, nil //nolint:nilnil // No behavior is one of the two that there are.
	}
	up, errUp := readRules(b.ScaleUp, hpa.DefaultScaleUp())
	down, errDown := readRules(b.ScaleDown, hpa.DefaultScaleDown())
	if errUp != nil {
		errUp = fmt.Errorf("scaleUp: %w", errUp)
	}
	if errDown != nil {
		errDown = fmt.Errorf("scaleDown: %w", errDown)
	}
	if err := errors.Join(errUp, errDown); err != nil {
		return nil, err
	}
	return &hpa.Behavior{Up: up, Down: down}, nil
}

// readRules are the rules of one direction over its defaults.
func readRules(from *autoscalingv2.HPAScalingRules, rules hpa.Rules) (hpa.Rules, error) {
	if from == nil {
		return rules, nil
	}
	if seconds := from.StabilizationWindowSeconds; seconds != nil {
		if *seconds < 0 {
			// In hpa.Rules that would stand for the cluster's own.
			return hpa.Rules{}, fmt.Errorf("stabilizationWindowSeconds %d: want 0 or more", *seconds)
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
