package explain

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// compare sets the HPA's own status beside the explanation, and says why they can differ.
func (t *telling) compare() {
	live := t.s.Live
	if live == nil {
		return
	}
	c := &Comparison{
		Desired: live.Desired, SameReadings: t.sameReadings(),
		Agrees: t.Desired != nil && *t.Desired == live.Desired,
	}
	t.Live = c
	switch {
	case t.Desired == nil:
		t.say("None of its metrics is computed here; by its status the HPA asks for %s.", replicas(live.Desired))
	case c.Agrees:
		t.say("The HPA's status says %d as well.", live.Desired)
	default:
		c.Why = t.differences()
		t.say("The HPA's status says %d: that is not the same.", live.Desired)
	}
}

// differences are the reasons for which a status can say something else, the surest first.
func (t *telling) differences() []string {
	var why []string
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	live := t.s.Live
	if live.Outdated {
		add("the status is of an older spec: the controller has not seen the change yet")
	}
	if live.Current != t.s.Scale.Replicas {
		add("when it last looked %s were asked for, now it is %d", replicas(live.Current), t.s.Scale.Replicas)
	}
	for i := range t.Metrics[:len(t.s.Spec.Metrics)] {
		if t.Metrics[i].Value != nil && t.Metrics[i].Live != "" && !t.sameReading(i) {
			add("the HPA last read %s of %s, now it is %s in all: its next sync comes within %s",
				t.Metrics[i].Live, t.Metrics[i].Name, number(*t.Metrics[i].Value), humanize.Span(period))
		}
	}
	if active, there := live.condition("ScalingActive"); there && !active.True {
		add("while it cannot read its metrics (%s) the HPA leaves desiredReplicas as it was", active.Reason)
	}
	if t.AtLeast && live.Desired > *t.Desired {
		add("a metric that is not computed here may ask for more")
	}
	if able, _ := live.condition("AbleToScale"); able.Reason == string(hpa.ScaleDownStabilized) ||
		able.Reason == string(hpa.ScaleUpStabilized) {
		add("the HPA is held by earlier recommendations (%s), which only the controller knows", able.Reason)
	}
	if limited, _ := live.condition("ScalingLimited"); limited.Reason == string(hpa.ScaleUpLimit) ||
		limited.Reason == string(hpa.ScaleDownLimit) {
		add("at its last sync the policies allowed no more (%s); the next sync comes within %s", limited.Reason,
			humanize.Span(period))
	}
	if len(why) == 0 {
		add("the controller remembers recommendations and changes that cannot be read from outside; or it runs with " +
			"flags (tolerance, stabilization) other than the defaults")
	}
	return why
}

// sameReadings says whether the HPA last read what is explained.
func (t *telling) sameReadings() bool {
	for i := range t.s.Spec.Metrics {
		if !t.sameReading(i) {
			return false
		}
	}
	return true
}

// sameReading compares one metric. The status has an AverageValue over the replicas that exist, rounded up.
func (t *telling) sameReading(i int) bool {
	seen, value := t.s.Live.reading(i), t.Metrics[i].Value
	if seen == nil || value == nil {
		return seen == nil && value == nil
	}
	now := math.Round(*value * 1000)
	if t.s.Spec.Metrics[i].Type == hpa.AverageValue {
		now = math.Ceil(now / float64(t.s.Scale.Existing))
	}
	return now == float64(*seen)
}
