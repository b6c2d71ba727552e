package explain

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// proposal explains how one metric becomes a number of replicas.
func (t *explainer) proposal(i int, p *hpa.Proposal) string {
	m := &t.s.Spec.Metrics[i]
	if p.Err != nil {
		return fmt.Sprintf("%s (%s) cannot be read: %s.", m.Name, m.Source, p.Err)
	}
	text := fmt.Sprintf("%s (%s%s) is %s.", m.Name, m.Source, prefixed(", from ",
		t.s.Metrics[i].From), formatMilli(p.Total))
	if m.Type == hpa.Value {
		return text + " " + t.byValue(m, p)
	}
	return text + " " + t.byAverage(m, p)
}

// prefixed adds a prefix to a text that is not empty.
func prefixed(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}

// byAverage explains an average, for example: 173 divided by 10 per replica is 17.3, so 18 replicas.
func (t *explainer) byAverage(m *hpa.Metric, p *hpa.Proposal) string {
	whole := float64(p.Total) / float64(m.Target)
	if !p.WithinTolerance {
		return fmt.Sprintf("At %s per replica, that is %s / %s = %s%s: it asks for %s.", formatMilli(m.Target),
			formatMilli(p.Total), formatMilli(m.Target), formatNumber(whole), roundingText(whole), replicas(p.Replicas))
	}
	text := fmt.Sprintf("For %s with a target of %s each, that is a ratio of %s, within the tolerance (%s): %s",
		replicas(t.s.Scale.Existing), formatMilli(m.Target), formatNumber(p.Ratio), t.tolerance(), t.unchanged(p))
	if exact := ceilReplicas(whole); exact != p.Replicas {
		return fmt.Sprintf("%s. Without the tolerance, %s / %s = %s would be rounded up to %d.",
			text, formatMilli(p.Total), formatMilli(m.Target), formatNumber(whole), exact)
	}
	return text + "."
}

// unchanged explains a ratio within the tolerance: the HPA uses the number of existing replicas as the desired number.
func (t *explainer) unchanged(p *hpa.Proposal) string {
	switch more := p.Replicas - t.s.Scale.Replicas; {
	case more > 0:
		return fmt.Sprintf("the HPA takes the %d existing replicas as the desired number, and adds %d because of "+
			"the rollout's surge, not because of demand", p.Replicas, more)
	case more < 0:
		return fmt.Sprintf("the HPA takes the %d existing replicas as the desired number", p.Replicas)
	}
	return "nothing changes"
}

// roundingText mentions rounding if there is any.
func roundingText(whole float64) string {
	if whole == math.Trunc(whole) {
		return ""
	}
	return ", rounded up"
}

// byValue explains a value, for example: twice the target times 3 ready pods is 6 replicas.
func (t *explainer) byValue(m *hpa.Metric, p *hpa.Proposal) string {
	text := fmt.Sprintf("Compared with the target of type Value, %s, that is a ratio of %s",
		formatMilli(m.Target), formatNumber(p.Ratio))
	switch {
	case t.s.Scale.Replicas == 0:
		return fmt.Sprintf("%s: from 0 it asks for %s.", text, replicas(p.Replicas))
	case p.WithinTolerance:
		return fmt.Sprintf("%s, within the tolerance (%s): %s.", text, t.tolerance(), t.unchanged(p))
	}
	return fmt.Sprintf("%s, times %s ready: it asks for %s.",
		text, replicas(t.s.Scale.Ready), replicas(p.Replicas))
}

// tolerance describes the range of a ratio in which nothing changes.
func (t *explainer) tolerance() string {
	up, down := t.s.Spec.Tolerances()
	return fmt.Sprintf("%s to %s", formatNumber(1-down), formatNumber(1+up))
}

// decision explains what happens to the highest proposal.
func (t *explainer) decision() {
	if t.out.Err != nil {
		t.say("Some metrics cannot be read. The HPA can still scale up on the other metrics, but does not scale down.")
	}
	t.stabilization()
	t.limits()
}

// stabilization explains how earlier recommendations prevent a change of the scale.
func (t *explainer) stabilization() {
	up := time.Duration(0)
	if t.s.Spec.Behavior != nil {
		up = t.s.Spec.Behavior.Up.Stabilization
	}
	switch {
	case t.out.Able == hpa.ScaleDownStabilized:
		t.say("A scale-down waits. The highest recommendation of the last %s counts (%s), which is at least %d. %s",
			humanize.Span(t.s.Spec.DownStabilization()), t.windowSource(), t.out.Stabilized,
			t.describeHeld(t.s.Spec.DownStabilization()))
	case t.out.Able == hpa.ScaleUpStabilized:
		t.say("A scale-up waits. The lowest recommendation of the last %s counts (behavior.scaleUp."+
			"stabilizationWindowSeconds), which is at most %d. %s", humanize.Span(up), t.out.Stabilized, t.describeHeld(up))
	case t.out.Proposed < t.s.Scale.Replicas:
		t.say("A scale-down does not wait: %s is 0.", t.windowSource())
	}
}

// describeHeld says what is known about such a hold. An HPA's condition reports it, but not since when.
func (t *explainer) describeHeld(window time.Duration) string {
	if able, there := t.s.Live.Condition("AbleToScale"); there && able.Reason == string(t.out.Able) {
		return fmt.Sprintf("The HPA's condition %s confirms this. Only the controller knows when the wait began. It "+
			"ends within %s if the values stay the same.", able.Reason, humanize.Span(window))
	}
	return "Only the controller knows those recommendations, so the current number of replicas is used instead."
}

// windowSource says where the scale-down stabilization window is set.
func (t *explainer) windowSource() string {
	if b := t.s.Spec.Behavior; b != nil && b.Down.Stabilization >= 0 {
		return "behavior.scaleDown.stabilizationWindowSeconds"
	}
	return "the controller-manager's flag, assumed to be the default"
}

// limits explains what policies, maxReplicas and minReplicas allow.
func (t *explainer) limits() {
	switch t.out.Limited {
	case hpa.TooManyReplicas:
		t.say("maxReplicas allows only %d of these %d replicas.", t.out.Replicas, t.out.Stabilized)
	case hpa.TooFewReplicas:
		t.say("minReplicas requires %d replicas, not %d.", t.out.Replicas, t.out.Stabilized)
	case hpa.ScaleUpLimit:
		t.say("A single HPA sync can scale up only to %d of these %d replicas: %s.",
			t.out.Replicas, t.out.Stabilized, t.upRule())
		if t.out.Stabilized > t.s.Spec.Max {
			t.say("In the end, maxReplicas allows only %d of these %d replicas.", t.s.Spec.Max, t.out.Stabilized)
		}
	case hpa.ScaleDownLimit:
		t.say("A single HPA sync can scale down only to %d replicas, not to %d: %s.",
			t.out.Replicas, t.out.Stabilized, formatPolicies(&t.s.Spec.Behavior.Down))
	default:
		return
	}
	t.recentChange()
}

// upRule describes the limit of a scale-up.
func (t *explainer) upRule() string {
	if t.s.Spec.Behavior == nil {
		return "without a behavior, one sync at most doubles the replicas, or scales to 4, whichever is more"
	}
	return formatPolicies(&t.s.Spec.Behavior.Up)
}

// recentChange mentions an earlier change that counts against the policies.
func (t *explainer) recentChange() {
	b, live := t.s.Spec.Behavior, t.s.Live
	if b == nil || live == nil || live.LastScale.IsZero() {
		return
	}
	ago := t.s.Now.Sub(live.LastScale)
	if within := max(b.Up.LongestPeriod(), b.Down.LongestPeriod()); ago >= 0 && ago < within {
		t.say(
			"The last change, %s ago, still counts toward the policies' period of %s. Only the controller knows about earlier changes.",
			humanize.Span(ago),
			humanize.Span(within),
		)
	}
}

// sentence describes the Forecast behind a metric.
func (f *Forecast) sentence() string {
	if f.Missing != "" {
		return fmt.Sprintf("The Forecast behind it cannot be read: %s.", f.Missing)
	}
	text := fmt.Sprintf("The value comes from Forecast %s (%s): ", f.Name, f.State)
	if !f.State.Serves() {
		return text + "it serves nothing: " + f.Reason + "."
	}
	text += fmt.Sprintf("%s observed, %s served", withUnit(f.Observed, f.Unit), withUnit(f.Served, f.Unit))
	if !f.Shadow {
		text += fmt.Sprintf(" for the next %s (lead time %s%s)", humanize.Span(f.Window), humanize.Span(f.Lead),
			prefixed(": ", f.LeadSource))
	}
	if f.Goal != "" {
		text += ", goal: " + f.Goal
	}
	if f.Selector != "" {
		text += "; the HPA's selector is " + f.Selector + ", which can select a different value"
	}
	return text + "; " + f.Reason + "."
}
