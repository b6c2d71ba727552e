package explain

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// compareWithStatus compares the HPA's status with the explanation, and lists why they can differ.
func (t *explainer) compareWithStatus() {
	live := t.s.Live
	if live == nil {
		return
	}
	c := &StatusComparison{
		Desired: live.Desired, SameReadings: t.sameReadings(),
		Agrees: t.Desired != nil && *t.Desired == live.Desired,
	}
	t.Live = c
	switch {
	case t.Desired == nil:
		t.say(
			"None of the HPA's metrics can be computed here. According to the HPA's status, it asks for %s.",
			replicas(live.Desired),
		)
	case c.Agrees:
		t.say("The HPA's status shows the same number: %d.", live.Desired)
	default:
		c.Why = t.differences()
		t.say("The HPA's status shows a different number: %d.", live.Desired)
	}
}

// differences returns the reasons why a status can differ from the explanation, the most certain first.
func (t *explainer) differences() []string {
	var why []string
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	live := t.s.Live
	if live.Outdated {
		add("the status belongs to an older spec, because the controller has not seen the change yet")
	}
	if live.Current != t.s.Scale.Replicas {
		add("the target was scaled to %s at the last sync, but is scaled to %d now", replicas(live.Current),
			t.s.Scale.Replicas)
	}
	for i := range t.Metrics[:len(t.s.Spec.Metrics)] {
		if t.Metrics[i].Value != nil && t.Metrics[i].Live != "" && !t.sameReading(i) {
			add("at its last sync the HPA read %s for %s, but now the total is %s; the next sync comes within %s",
				t.Metrics[i].Live, t.Metrics[i].Name, formatNumber(*t.Metrics[i].Value), humanize.Span(syncPeriod))
		}
	}
	if active, there := live.Condition(hpa.ScalingActive); there && !active.True {
		add("while it cannot read its metrics (%s) the HPA does not change desiredReplicas", active.Reason)
	}
	if t.AtLeast && live.Desired > *t.Desired {
		add("a metric that is not computed here may ask for more replicas")
	}
	if able, _ := live.Condition("AbleToScale"); able.Reason == string(hpa.ScaleDownStabilized) ||
		able.Reason == string(hpa.ScaleUpStabilized) {
		add("earlier recommendations, which only the controller knows, hold the HPA back (%s)", able.Reason)
	}
	if limited, _ := live.Condition("ScalingLimited"); limited.Reason == string(hpa.ScaleUpLimit) ||
		limited.Reason == string(hpa.ScaleDownLimit) {
		add("at its last sync the policies allowed no larger change (%s); the next sync comes within %s",
			limited.Reason, humanize.Span(syncPeriod))
	}
	if len(why) == 0 {
		add("the controller remembers recommendations and changes that cannot be read from outside, or its flags " +
			"(tolerance, stabilization) are not the defaults")
	}
	return why
}

// sameReadings reports whether the HPA last read the explained values.
func (t *explainer) sameReadings() bool {
	for i := range t.s.Spec.Metrics {
		if !t.sameReading(i) {
			return false
		}
	}
	return true
}

// sameReading compares one metric. The AverageValue in the status is divided by the existing replicas and rounded up.
func (t *explainer) sameReading(i int) bool {
	seen, value := t.s.Metrics[i].InStatus, t.Metrics[i].Value
	if seen == nil || value == nil {
		return seen == nil && value == nil
	}
	now := math.Round(*value * 1000)
	if t.s.Spec.Metrics[i].Type == hpa.AverageValue {
		now = math.Ceil(now / float64(t.s.Scale.Existing))
	}
	return now == float64(*seen)
}
