package inspect

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// objective is the page's panel on how an objective fares.
type objective struct {
	*v1alpha1.Outcome

	Facts []fact
}

// objectiveOf is the panel; nil where no objective is served by outcome.
func objectiveOf(s *v1alpha1.OutlookStatus) *objective {
	if s.Outcome == nil {
		return nil
	}
	return &objective{s.Outcome, outcomeFacts(s)}
}

func outcomeFacts(s *v1alpha1.OutlookStatus) []fact {
	o := s.Outcome
	over := "in the last " + humanize.Period(o.Over.Duration)
	switch {
	case o.Over.Duration <= 0:
		over = "nothing was played yet"
	case o.Late != nil && o.Served.Late != nil && *o.Served.Late > *o.Late:
		over += ", more than asked"
	}
	return []fact{
		askedFact(o),
		{"Late", lateShare(o.Served.Late), "", over},
		{"Replica-hours", number(o.Served.ReplicaHours), "", times(o.Served.Cost) + " those of the demand"},
		{"On the observed", lateShare(o.Observed.Late), "", "late at " + times(o.Observed.Cost) + ", without headroom"},
		lastValueFact(o),
		{"Margin k", multiple(o.K), "", expectedNote(o)},
		{"Candidate", cmp.Or(o.Candidate, unknown), "", "for the window peak"},
	}
}

// askedFact is the objective, or the cost ratio.
func askedFact(o *v1alpha1.Outcome) fact {
	wait := span(o.Wait.Duration)
	switch {
	case o.CostRatio != nil:
		return fact{"Asked", Ratio(*o.CostRatio), "", "an idle replica's cost, where demand waits longer than " + wait}
	case o.Late != nil:
		return fact{"Asked", humanize.Asked(*o.Late), "", "at most, waits longer than " + wait}
	}
	return fact{"Asked", unknown, "", ""}
}

// lastValueFact is what a rule without a forecast would take to keep the objective, or would do at the same cost ratio.
func lastValueFact(o *v1alpha1.Outcome) fact {
	_, last := rivals(o)
	out := fact{Name: "By the last value", Value: unknown, Note: "not known yet"}
	switch {
	case last == nil || last.Cost == nil:
	case o.CostRatio != nil:
		out.Value, out.Note = times(last.Cost), "with "+lateShare(last.Late)+" late, with a margin of its own"
	case last.Meets:
		out.Value, out.Note = times(last.Cost), "to keep the objective, with a margin of its own"
	default:
		out.Value, out.Note = lateShare(last.Late), "late at "+times(last.Cost)+": it does not keep the objective"
	}
	return out
}

func expectedNote(o *v1alpha1.Outcome) string {
	if o.Expected == nil {
		return "times the spread"
	}
	return "times the spread: " + lateShare(o.Expected) + " expected late"
}

// Note says of a candidate whether it serves, and whether it meets the objective.
func (o *objective) Note(c *v1alpha1.CandidateCost) string {
	switch {
	case c.Serves && (c.Meets || o.CostRatio != nil):
		return "serves"
	case c.Serves:
		return "serves, does not meet the objective"
	case c.Late == nil || o.CostRatio != nil && !c.Meets:
		return "not known yet"
	case !c.Meets:
		return "does not meet the objective"
	}
	return ""
}

// Missed says in words why an objective is not met, or not known to be.
func (o *objective) Missed() string {
	switch v := outcome.Verdict(o.Verdict); v {
	case outcome.Met:
		return ""
	case outcome.Learning:
		return "Not known yet: too little of this workload was seen."
	case outcome.Bounded:
		return "Not known now: history does not justify the value that it takes."
	case outcome.AtMaxReplicas:
		return "Not met: the autoscaler's maxReplicas is too low."
	case outcome.FasterThanLead:
		return "Not met: the demand rises faster than replicas start."
	default:
		return "Not met: " + string(v) + "."
	}
}

// Class is the verdict as a CSS class.
func (o *objective) Class() string {
	switch v := outcome.Verdict(o.Verdict); {
	case v == outcome.Met:
		return "good"
	case v.Misses():
		return "poor"
	}
	return "fair"
}

// Uncalibrated is why no outcome calibrates an objective, and what to do about it; empty where one does.
func Uncalibrated(s *v1alpha1.OutlookStatus) string {
	for _, c := range s.Conditions {
		if s.Outcome == nil && c.Type == snapshot.ConditionUncalibrated && c.Status == metav1.ConditionTrue {
			return c.Message
		}
	}
	return ""
}
