package explain

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// proposal says how one metric becomes a number of replicas.
func (t *telling) proposal(i int, p *hpa.Proposal) string {
	m := &t.s.Spec.Metrics[i]
	if p.Err != nil {
		return fmt.Sprintf("%s (%s) cannot be read: %s.", m.Name, m.Source, p.Err)
	}
	text := fmt.Sprintf("%s (%s%s) is %s.", m.Name, m.Source, after(", by ", t.s.Metrics[i].From), milli(p.Total))
	if m.Type == hpa.Value {
		return text + " " + t.byValue(m, p)
	}
	return text + " " + t.byAverage(m, p)
}

// after is a text with what leads to it; empty where it is.
func after(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}

// byAverage: 173 over 10 a replica is 17.3, so 18 replicas.
func (t *telling) byAverage(m *hpa.Metric, p *hpa.Proposal) string {
	whole := float64(p.Total) / float64(m.Target)
	if !p.Within {
		return fmt.Sprintf("At %s a replica that is %s / %s = %s%s: it asks for %s.", milli(m.Target), milli(p.Total),
			milli(m.Target), number(whole), rounding(whole), replicas(p.Replicas))
	}
	text := fmt.Sprintf("Over %s of %s each that is a ratio of %s, within the tolerance (%s): nothing changes",
		replicas(t.s.Scale.Existing), milli(m.Target), number(p.Ratio), t.tolerance())
	if exact := ceil(whole); exact != p.Replicas {
		return fmt.Sprintf("%s, where %s / %s = %s would be rounded up to %d.",
			text, milli(p.Total), milli(m.Target), number(whole), exact)
	}
	return text + "."
}

// rounding says so where there is something to round.
func rounding(whole float64) string {
	if whole == math.Trunc(whole) {
		return ""
	}
	return ", rounded up"
}

// byValue: twice the target times 3 ready pods are 6 replicas.
func (t *telling) byValue(m *hpa.Metric, p *hpa.Proposal) string {
	text := fmt.Sprintf("Against a target of type Value, %s, that is a ratio of %s", milli(m.Target), number(p.Ratio))
	switch {
	case t.s.Scale.Replicas == 0:
		return fmt.Sprintf("%s: from 0 it asks for %s.", text, replicas(p.Replicas))
	case p.Within:
		return fmt.Sprintf("%s, within the tolerance (%s): nothing changes.", text, t.tolerance())
	}
	return fmt.Sprintf("%s, times %s that are ready: it asks for %s.",
		text, replicas(t.s.Scale.Ready), replicas(p.Replicas))
}

// tolerance is the range of a ratio in which nothing changes.
func (t *telling) tolerance() string {
	up, down := t.s.Spec.Tolerances()
	return fmt.Sprintf("%s to %s", number(1-down), number(1+up))
}

// decision tells what becomes of the largest proposal.
func (t *telling) decision() {
	if t.out.Err != nil {
		t.say("Not all metrics can be read: the HPA scales up by the others, and would not scale down.")
	}
	t.stabilization()
	t.limits()
}

// stabilization says what earlier recommendations hold.
func (t *telling) stabilization() {
	up := time.Duration(0)
	if t.s.Spec.Behavior != nil {
		up = t.s.Spec.Behavior.Up.Stabilization
	}
	switch {
	case t.out.Able == hpa.ScaleDownStabilized:
		t.say("A scale-down waits: the highest recommendation of the last %s counts (%s), and that is no less than "+
			"%d. %s", humanize.Span(t.s.Spec.DownStabilization()), t.window(), t.out.Stabilized, t.held(t.s.Spec.DownStabilization()))
	case t.out.Able == hpa.ScaleUpStabilized:
		t.say("A scale-up waits: the lowest recommendation of the last %s counts (behavior.scaleUp."+
			"stabilizationWindowSeconds), and that is no more than %d. %s", humanize.Span(up), t.out.Stabilized, t.held(up))
	case t.out.Proposed < t.s.Scale.Replicas:
		t.say("Nothing holds a scale-down: %s is 0.", t.window())
	}
}

// held says how much is known of what holds: an HPA's condition names it, never since when.
func (t *telling) held(window time.Duration) string {
	if able, there := t.s.Live.condition("AbleToScale"); there && able.Reason == string(t.out.Able) {
		return fmt.Sprintf("Its condition %s says so too; since when only the controller knows, so that it lets go in "+
			"%s at the latest, if the readings stay.", able.Reason, humanize.Span(window))
	}
	return "What was recommended in that time only the controller knows; taken is the present number."
}

// window names what the scale-down stabilization is by.
func (t *telling) window() string {
	if b := t.s.Spec.Behavior; b != nil && b.Down.Stabilization >= 0 {
		return "behavior.scaleDown.stabilizationWindowSeconds"
	}
	return "the controller-manager's flag, taken to be its default"
}

// limits says what policies, maxReplicas and minReplicas leave.
func (t *telling) limits() {
	switch t.out.Limited {
	case hpa.TooManyReplicas:
		t.say("maxReplicas leaves %d of %d.", t.out.Replicas, t.out.Stabilized)
	case hpa.TooFewReplicas:
		t.say("minReplicas makes %d of %d.", t.out.Replicas, t.out.Stabilized)
	case hpa.ScaleUpLimit:
		t.say("In one go no more than %d of %d are allowed: %s.", t.out.Replicas, t.out.Stabilized, t.upRule())
		if t.out.Stabilized > t.s.Spec.Max {
			t.say("In the end maxReplicas leaves %d of %d.", t.s.Spec.Max, t.out.Stabilized)
		}
	case hpa.ScaleDownLimit:
		t.say("In one go no fewer than %d, not %d, are allowed: %s.",
			t.out.Replicas, t.out.Stabilized, policies(&t.s.Spec.Behavior.Down))
	default:
		return
	}
	t.recentChange()
}

// upRule says what limits a scale-up.
func (t *telling) upRule() string {
	if t.s.Spec.Behavior == nil {
		return "without a behavior a sync at most doubles, to 4 at least"
	}
	return policies(&t.s.Spec.Behavior.Up)
}

// recentChange says that an earlier scaling may count against the policies.
func (t *telling) recentChange() {
	b, live := t.s.Spec.Behavior, t.s.Live
	if b == nil || live == nil || live.LastScale.IsZero() {
		return
	}
	ago := t.s.Now.Sub(live.LastScale)
	if within := max(b.Up.LongestPeriod(), b.Down.LongestPeriod()); ago >= 0 && ago < within {
		t.say("The last change, %s ago, still counts in the policies' %s; what others there were only the controller "+
			"knows.", humanize.Span(ago), humanize.Span(within))
	}
}

// sentence says what a Forecast makes of its metric.
func (f *Forecast) sentence() string {
	if f.Missing != "" {
		return fmt.Sprintf("Whether a Forecast stands behind it is not known: %s.", f.Missing)
	}
	text := fmt.Sprintf("That is Forecast %s (%s): ", f.Name, f.State)
	if !f.State.Serves() {
		return text + "it serves nothing: " + f.Reason + "."
	}
	text += fmt.Sprintf("%s are observed now, %s are served", of(f.Observed, f.Unit), of(f.Served, f.Unit))
	if !f.Behind {
		text += fmt.Sprintf(" for the next %s (lead time %s%s)", humanize.Span(f.Window), humanize.Span(f.Lead),
			after(": ", f.LeadSource))
	}
	if f.Asked != "" {
		text += ", asked: " + f.Asked
	}
	if f.Selected != "" {
		text += "; the HPA asks for " + f.Selected + ", which may be another value"
	}
	return text + "; " + f.Reason + "."
}
