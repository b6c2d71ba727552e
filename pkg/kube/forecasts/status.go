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

// statusOf is an entry for people: rounded, in words. Conditions keep the time of their last transition from the status
// before; those that are new or changed sides did so at the time of the snapshot.
func statusOf(e *snapshot.Entry, before *v1alpha1.ForecastStatus, at time.Time) v1alpha1.ForecastStatus {
	status := v1alpha1.ForecastStatus{
		ObservedGeneration: e.Generation,
		State:              string(e.State),
		Conditions:         conditionsOf(e, before.Conditions, at),
		Unit:               e.Unit,
		Model:              e.Model,
		ModelReason:        v1alpha1.Clip(e.ModelReason()),
		LeadTimeSource:     v1alpha1.Clip(e.LeadSource),
		Starts:             before.Starts,
		AtZero:             before.AtZero,
		Skill:              percent(e.Skill),
		Coverage:           percent(e.Coverage),
		Objective:          objectiveOf(e, before),
	}
	if e.Lead > 0 {
		status.LeadTime, status.Window = duration(e.Lead), duration(e.Window)
	}
	if !e.SampleTime.IsZero() {
		status.Observed = quantity(e.Observed)
		status.SampleTime = &metav1.Time{Time: e.SampleTime.Truncate(time.Second)}
	}
	if e.State.Serves() {
		status.Served = quantity(e.Decision.Value)
	}
	return status
}

func conditionsOf(e *snapshot.Entry, before []metav1.Condition, at time.Time) []metav1.Condition {
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

// quantity writes a number with four digits, or all of those before the point: 0.01234, 12.35, 123456.
func quantity(v float64) string {
	if !humanize.Known(v) {
		return ""
	}
	return humanize.Number(v)
}

// percent writes a share; nothing where it is not known.
func percent(share float64) string {
	if !humanize.Known(share) {
		return ""
	}
	return strconv.FormatFloat(math.Round(share*100), 'f', 0, 64) + "%"
}

func duration(d time.Duration) string { return model.Duration(d.Round(time.Second)).String() }

// news is how much a reader would notice of a change.
type news int

const (
	// silent: nothing has changed.
	silent news = iota
	// ordinary: a number or a text is another one.
	ordinary
	// urgent: a condition, the state or the lead time is another one, or the status is about an older spec.
	urgent
)

// compare says how much news there is between two states of a status.
func compare(before, after *v1alpha1.ForecastStatus) news {
	switch {
	case before.ObservedGeneration != after.ObservedGeneration,
		before.State != after.State,
		before.LeadTime != after.LeadTime,
		!equality.Semantic.DeepEqual(before.AtZero, after.AtZero),
		changedSides(before.Objective, after.Objective),
		!slices.EqualFunc(before.Conditions, after.Conditions, v1alpha1.SameCondition):
		return urgent
	case !equality.Semantic.DeepEqual(before, after):
		return ordinary
	}
	return silent
}
