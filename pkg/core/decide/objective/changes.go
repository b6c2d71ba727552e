package objective

import "fmt"

// Change is one change of what a report says that is worth an event.
type Change struct {
	// Reason in CamelCase, as in Kubernetes events.
	Reason string
	// Missed reports that the objective is missed now and was not before.
	Missed bool
	// Message is a sentence with the numbers.
	Message string
}

// ChangesSince are the changes of the selected candidate, and between met, missed and learning. There are none from an empty
// candidate or verdict, which is not known, so that a restart repeats no event; none between reasons to miss the objective; and
// none to or from Bounded, which comes and goes with the demand.
func (r *Report) ChangesSince(candidate string, verdict Verdict) []Change {
	var out []Change
	if candidate != "" && r.Selection.Selected != "" && candidate != r.Selection.Selected {
		out = append(out, Change{
			Reason:  "CandidateChanged",
			Message: fmt.Sprintf("%s replaces %s: %s", r.Selection.Selected, candidate, r.Selection.Message()),
		})
	}
	if verdict == "" || r.Verdict == "" || r.Verdict == Bounded || verdict.changeReason() == r.Verdict.changeReason() {
		return out
	}
	return append(out, Change{
		Reason: r.Verdict.changeReason(), Missed: r.Verdict.Misses(),
		Message: fmt.Sprintf("%s, was %s: %s", r.Verdict, verdict, r.Message()),
	})
}

// Misses reports that the objective is known to be missed.
func (v Verdict) Misses() bool { return v != Met && v != Learning && v != Bounded && v != "" }

// changeReason is the Reason of a change to the verdict.
func (v Verdict) changeReason() string {
	switch {
	case v.Misses():
		return "ObjectiveMissed"
	case v == Learning:
		return "ObjectiveLearning"
	}
	return "ObjectiveMet"
}

// MostDemanding is the autoscaler that needs the largest headroom, which is served; false if there is no autoscaler.
func (r *Report) MostDemanding() (AutoscalerReport, bool) {
	var out AutoscalerReport
	for i, s := range r.Autoscalers {
		if i == 0 || s.Headroom > out.Headroom {
			out = s
		}
	}
	return out, len(r.Autoscalers) > 0
}
