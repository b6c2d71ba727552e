package forecasts

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// statusOf returns the status of an entry: rounded, for people. Conditions keep the time of their last transition
// from the status before; new and changed ones have the time of the snapshot.
func statusOf(e *snapshot.ForecastState, before *v1alpha1.ForecastStatus, at time.Time) v1alpha1.ForecastStatus {
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

func conditionsOf(e *snapshot.ForecastState, before []metav1.Condition, at time.Time) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range e.Conditions {
		status := metav1.ConditionFalse
		if c.True {
			status = metav1.ConditionTrue
		}
		reason := c.Reason
		if reason == "" {
			reason = string(e.State)
		}
		v1alpha1.AddCondition(&out, metav1.Condition{
			Type: c.Type, Status: status, Reason: reason, Message: c.Message, ObservedGeneration: e.Generation,
		}, before, at)
	}
	return out
}

// formatQuantity writes a number with four digits, or all of those before the point: 0.01234, 12.35, 123456.
func formatQuantity(v float64) string {
	if !humanize.Known(v) {
		return ""
	}
	return humanize.Number(v)
}

// formatPercent writes a share; empty where it is unknown.
func formatPercent(share float64) string {
	if !humanize.Known(share) {
		return ""
	}
	return strconv.FormatFloat(math.Round(share*100), 'f', 0, 64) + "%"
}

func formatDuration(d time.Duration) string { return model.Duration(d.Round(time.Second)).String() }

// urgency is how soon a change must be written.
type urgency int

const (
	// unchanged: nothing changed.
	unchanged urgency = iota
	// routine: a number or a text changed.
	routine
	// urgent: a condition, the state, the lead time or the spec changed.
	urgent
)

// urgencyOf returns the urgency of the change between two statuses.
func urgencyOf(before, after *v1alpha1.ForecastStatus) urgency {
	switch {
	case before.ObservedGeneration != after.ObservedGeneration,
		before.State != after.State,
		before.LeadTime != after.LeadTime,
		!equality.Semantic.DeepEqual(before.ScaledToZero, after.ScaledToZero),
		objectiveChanged(before.Objective, after.Objective),
		!slices.EqualFunc(before.Conditions, after.Conditions, v1alpha1.SameCondition):
		return urgent
	case !equality.Semantic.DeepEqual(before, after):
		return routine
	}
	return unchanged
}
