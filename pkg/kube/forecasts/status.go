package forecasts

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/writes"
)

// statusOf returns the status of an entry with rounded numbers. Conditions keep the time of their last transition from the previous status.
// New and changed conditions have the time of the snapshot.
func statusOf(e *snapshot.ForecastSnapshot, before *v1alpha1.ForecastStatus, at time.Time) v1alpha1.ForecastStatus {
	status := v1alpha1.ForecastStatus{
		ObservedGeneration: e.Generation,
		State:              string(e.State),
		Conditions:         conditionsOf(e, before.Conditions, at),
		Unit:               e.Unit,
		Model:              e.Model,
		ModelReason:        v1alpha1.Clip(e.ModelReason()),
		LeadTimeSource:     v1alpha1.Clip(e.LeadSource),
		Starts:             before.Starts,
		ScaledToZero:       before.ScaledToZero,
		ServedRecord:       servedRecordOf(e, before),
		Skill:              formatPercent(e.Skill),
		Coverage:           formatPercent(e.Coverage),
		Objective:          objectiveOf(e, before),
	}
	if e.Lead > 0 {
		status.LeadTime, status.Window = formatDuration(e.Lead), formatDuration(e.Window)
	}
	if !e.SampleTime.IsZero() {
		status.Observed = formatQuantity(e.Observed)
		status.SampleTime = &metav1.Time{Time: e.SampleTime.Truncate(time.Second)}
	}
	if e.State.Serves() {
		status.Served = formatQuantity(e.Decision.Value)
	}
	return status
}

func conditionsOf(e *snapshot.ForecastSnapshot, before []metav1.Condition, at time.Time) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range e.Conditions {
		status := metav1.ConditionFalse
		if c.True {
			status = metav1.ConditionTrue
		}
		v1alpha1.AddCondition(&out, metav1.Condition{
			Type: c.Type, Status: status, Reason: cmp.Or(c.Reason, string(e.State)), Message: c.Message,
			ObservedGeneration: e.Generation,
		}, before, at)
	}
	return out
}

// formatQuantity formats a number with four digits, or with all digits before the decimal point if there are more: 0.01234, 12.35, 123456.
func formatQuantity(v float64) string {
	if !humanize.Known(v) {
		return ""
	}
	return humanize.Number(v)
}

// formatPercent formats a share as a percentage; empty if it is unknown.
func formatPercent(share float64) string {
	if !humanize.Known(share) {
		return ""
	}
	return strconv.FormatFloat(math.Round(share*100), 'f', 0, 64) + "%"
}

func formatDuration(d time.Duration) string { return model.Duration(d.Round(time.Second)).String() }

// urgencyOf returns the urgency of the change between two statuses.
func urgencyOf(before, after *v1alpha1.ForecastStatus) writes.Urgency {
	switch {
	case before.ObservedGeneration != after.ObservedGeneration,
		before.State != after.State,
		before.LeadTime != after.LeadTime,
		!equality.Semantic.DeepEqual(before.ScaledToZero, after.ScaledToZero),
		objectiveChanged(before.Objective, after.Objective),
		!slices.EqualFunc(before.Conditions, after.Conditions, v1alpha1.SameCondition):
		return writes.Urgent
	case !equality.Semantic.DeepEqual(before, after):
		return writes.Routine
	}
	return writes.Unchanged
}

// objectiveOf returns the objective in an entry's status. While a replica that has just started still reads the history for the same spec,
// it returns the previous status. A restart therefore neither removes the objective nor emits an event.
func objectiveOf(e *snapshot.ForecastSnapshot, before *v1alpha1.ForecastStatus) *v1alpha1.ObjectiveStatus {
	r := e.Objective
	if r == nil {
		if e.State == snapshot.Pending && e.Generation == before.ObservedGeneration {
			return before.Objective
		}
		return nil
	}
	out := &v1alpha1.ObjectiveStatus{
		Asked: r.Goal().String(), Headline: r.Headline(e.Settings.Mode == decide.Shadow),
		Verdict: string(r.Verdict), Candidate: r.Selection.Selected,
	}
	if r.Price == 0 {
		out.Asked += " over " + humanize.Period(r.Budget.Over) + ", wait " + humanize.Span(r.Wait)
	}
	if r.Selection.Selected != "" {
		out.CandidateReason = r.Selection.Message()
	}
	out.BadHours = r.Bad.String()
	if r.Served.Arrived > 0 {
		out.Late = formatTwoDigits(r.Served.LateShare()*100, "%")
		out.RelativeCost = formatTwoDigits(r.Served.RelativeCost(), "")
	}
	if r.Measured != nil {
		out.Measured = formatTwoDigits(r.Measured.Late*100, "%")
	}
	if r.Budget.Allowed > 0 {
		out.BudgetSpent = formatTwoDigits(r.Budget.SpentShare()*100, "%")
		out.BurnRate = formatTwoDigits(r.Budget.BurnHour, "")
	}
	if widest, ok := r.MostDemanding(); ok {
		out.Headroom = formatTwoDigits(widest.Headroom, "")
	}
	return out
}

// formatTwoDigits formats a number with two significant digits and its unit; empty if it is unknown.
func formatTwoDigits(v float64, unit string) string {
	if !humanize.Known(v) {
		return ""
	}
	return humanize.Significant(v, 2) + unit
}

// objectiveChanged reports whether the selected candidate or the verdict changed. An objective that appears or disappears does not count.
// Its condition does the same, and an older CustomResourceDefinition drops the objective from every status.
func objectiveChanged(before, after *v1alpha1.ObjectiveStatus) bool {
	if before == nil || after == nil {
		return false
	}
	return before.Candidate != after.Candidate || before.Verdict != after.Verdict
}

// changesSince returns the changes of an entry since the status in the cluster. In this way, all replicas together emit each change once.
func changesSince(e *snapshot.ForecastSnapshot, before *v1alpha1.ForecastStatus) []objective.Change {
	var out []objective.Change
	if words, suspect := e.Suspect(); suspect && !slices.ContainsFunc(before.Conditions, func(c metav1.Condition) bool {
		return c.Type == snapshot.ConditionData && c.Reason == snapshot.ReasonSuspect
	}) {
		out = append(out, objective.Change{Reason: snapshot.ReasonSuspect, Missed: true, Message: words})
	}
	if e.Objective == nil || before.Objective == nil || e.Generation != before.ObservedGeneration {
		return out
	}
	verdict := objective.Verdict(before.Objective.Verdict)
	return append(out, e.Objective.ChangesSince(before.Objective.Candidate, verdict)...)
}
