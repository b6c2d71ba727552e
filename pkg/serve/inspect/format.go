package inspect

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// unknown is the text for an unknown number.
const unknown = humanize.Unknown

func number(v *float64) string { return humanize.Optional(v, humanize.Number) }

func percent(v *float64) string { return humanize.Optional(v, humanize.Percent) }

func lateShare(v *float64) string { return humanize.Optional(v, humanize.LateShare) }

// significant formats a headroom multiplier or a relative cost with three digits, for example 1.27.
func significant(v *float64) string {
	return humanize.Optional(v, func(v float64) string { return humanize.Significant(v, 3) })
}

// span formats a duration without zero parts: 5m, 6m15s, 1h. A duration of 0 is unknown.
func span(d time.Duration) string {
	if d == 0 {
		return unknown
	}
	return humanize.Span(d)
}

// ObjectiveText describes the objective of the served value in a few words.
func ObjectiveText(s *v1alpha1.OutlookStatus) string {
	if PauseMessage(s) != "" {
		return "paused"
	}
	return cmp.Or(objective.Asked(s.Late, s.BadHours, s.CostRatio, s.Quantile), unknown)
}

// PauseMessage says what Forewarm serves while a Forecast is paused; empty while it is not paused.
func PauseMessage(s *v1alpha1.OutlookStatus) string {
	return conditionMessage(s, snapshot.ConditionPaused)
}

// UncalibratedMessage says why an objective is not calibrated, and what to do; empty if it is calibrated.
func UncalibratedMessage(s *v1alpha1.OutlookStatus) string {
	if s.Objective != nil {
		return ""
	}
	return conditionMessage(s, snapshot.ConditionUncalibrated)
}

// conditionMessage returns the message of a condition; empty while the condition is not True.
func conditionMessage(s *v1alpha1.OutlookStatus, kind string) string {
	for _, c := range s.Conditions {
		if c.Type == kind && c.Status == metav1.ConditionTrue {
			return c.Message
		}
	}
	return ""
}

// AchievedLateness is the share of the demand that was late, with a mark if the objective is missed; a dash without a
// calibrated objective.
func AchievedLateness(s *v1alpha1.OutlookStatus) string {
	if s.Objective == nil {
		return unknown
	}
	text := lateShare(s.Objective.Served.Late)
	if objective.Verdict(s.Objective.Verdict).Misses() {
		text += "!"
	}
	return text
}

// unbounded is a maxReplicas that means "no limit".
const unbounded = 1_000_000

// ReplicaRange is the range of replicas of an autoscaler.
func ReplicaRange(s *v1alpha1.Autoscaler) string {
	if s.MaxReplicas >= unbounded {
		return fmt.Sprintf("%d or more", s.MinReplicas)
	}
	return fmt.Sprintf("%d to %d", s.MinReplicas, s.MaxReplicas)
}

// SampleAge is the age of the newest sample; a dash if there is none, or if the time is not known.
func SampleAge(s *v1alpha1.OutlookStatus, now time.Time) string {
	if s.SampleTime == nil {
		return unknown
	}
	return age(s.SampleTime.Time, now)
}

// Age is the age of the Forecast; a dash if it is not known.
func Age(o *v1alpha1.Outlook, now time.Time) string { return age(o.CreationTimestamp.Time, now) }

// age formats the time between two times like kubectl. The result is a dash if one of them is unknown.
func age(since, now time.Time) string {
	if since.IsZero() || now.IsZero() {
		return unknown
	}
	return duration.HumanDuration(max(0, now.Sub(since)))
}
