package forecasts

import (
	"slices"
	"strconv"

	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// objectiveOf is how an entry's objective fares, for people. While the history of the same spec is being read, which is
// how a replica starts, it is what was known before: so a restart neither forgets it nor tells it as news.
func objectiveOf(e *snapshot.Entry, before *v1alpha1.ForecastStatus) *v1alpha1.ObjectiveStatus {
	r := e.Outcome
	if r == nil {
		if e.State == snapshot.Pending && e.Generation == before.ObservedGeneration {
			return before.Objective
		}
		return nil
	}
	out := &v1alpha1.ObjectiveStatus{
		Asked:   askedOf(r),
		Verdict: string(r.Verdict), Candidate: r.Choice.Name,
	}
	if r.Choice.Name != "" {
		out.Why = r.Choice.Words()
	}
	if r.Served.Arrived > 0 {
		out.Late, out.Cost = twoDigits(r.Served.LateShare()*100, "%"), twoDigits(r.Served.Cost(), "")
	}
	if widest, ok := r.Widest(); ok {
		out.K = twoDigits(widest.K, "")
	}
	return out
}

// askedOf is the objective, or the cost ratio, in a few words.
func askedOf(r *outcome.Report) string {
	if r.Price > 0 {
		return "late costs " + strconv.FormatFloat(r.Price, 'f', -1, 64) + "× an idle replica"
	}
	return strconv.FormatFloat(r.Late*100, 'g', 4, 64) + "% later than " + duration(r.Wait)
}

// twoDigits writes a number with two significant digits and its unit; nothing where it is not known.
func twoDigits(v float64, unit string) string {
	if !humanize.Known(v) {
		return ""
	}
	return humanize.Digits(v, 2) + unit
}

// changedSides says whether another candidate serves, or the verdict is another. That an objective is told at all is no news
// by itself, as its condition comes and goes with it: a CustomResourceDefinition of an older forewarm drops it from every
// status that is written.
func changedSides(before, after *v1alpha1.ObjectiveStatus) bool {
	if before == nil || after == nil {
		return false
	}
	return before.Candidate != after.Candidate || before.Verdict != after.Verdict
}

// changes are what is news about an entry since its status before, which is the one in the cluster: what one replica told,
// the next does not tell again.
func changes(e *snapshot.Entry, before *v1alpha1.ForecastStatus) []outcome.Change {
	var out []outcome.Change
	if words, suspect := e.Suspect(); suspect && !slices.ContainsFunc(before.Conditions, func(c metav1.Condition) bool {
		return c.Type == snapshot.ConditionData && c.Reason == snapshot.ReasonSuspect
	}) {
		out = append(out, outcome.Change{Reason: snapshot.ReasonSuspect, Missed: true, Words: words})
	}
	if e.Outcome == nil || before.Objective == nil || e.Generation != before.ObservedGeneration {
		return out
	}
	return append(out, e.Outcome.Changes(outcome.Stand{
		Candidate: before.Objective.Candidate, Verdict: outcome.Verdict(before.Objective.Verdict),
	})...)
}

// tell makes events of a draft's changes, about its object.
func (w *StatusWriter) tell(d draft) {
	if w.events == nil {
		return
	}
	for _, c := range d.changes {
		kind := core.EventTypeNormal
		if c.Missed {
			kind = core.EventTypeWarning
		}
		w.events.Event(d.object, kind, c.Reason, v1alpha1.ClipEvent(c.Words))
	}
}
