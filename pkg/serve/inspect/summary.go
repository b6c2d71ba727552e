package inspect

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// objectiveSummary compares the simulated autoscaler on the served value with the previous HPA.
func objectiveSummary(o *v1alpha1.Objective, shadow bool) string {
	switch {
	case o.Over.Duration <= 0:
		return "No demand has been simulated yet."
	case o.Served.Late == nil || o.Before.Late == nil:
		return "There was no demand in the last " + humanize.Period(o.Over.Duration) + "."
	case o.Saved.Late == nil || o.Saved.ReplicaHours == nil:
		return ""
	}
	by := "the autoscaler"
	if len(o.Autoscalers) > 0 {
		by = o.Autoscalers[0].Name
	}
	return fmt.Sprintf("In a simulation of %s, %s%s", by, saving(o, shadow), compareWithLastValue(o))
}

// compareWithLastValue compares the selected candidate with the best autoscaler without a forecast, under the same objective or cost
// ratio: the last value with its own headroom. This is fairer than a comparison without headroom.
func compareWithLastValue(o *v1alpha1.Objective) string {
	selected, last := selectedAndLastValue(o)
	switch {
	case selected == nil || last == nil || selected == last || !selected.MeetsObjective,
		selected.RelativeCost == nil || last.RelativeCost == nil:
		return ""
	case o.CostRatio != nil:
		return fmt.Sprintf(" Without a forecast (the last value with its own headroom), %s of the demand would be "+
			"late at a relative cost of %s. With the selected candidate, %s is expected to be late at a relative "+
			"cost of %s.", lateShare(last.Late), significant(last.RelativeCost), lateShare(selected.Late),
			significant(selected.RelativeCost))
	case !last.MeetsObjective:
		return fmt.Sprintf(" Without a forecast (the last value with its own headroom), the objective would be "+
			"missed: %s of the demand would be %s at a relative cost of %s.", lateShare(last.Late), missedText(o),
			significant(last.RelativeCost))
	}
	return fmt.Sprintf(" Without a forecast (the last value with its own headroom), the same objective would need "+
		"a relative cost of %s instead of %s.", significant(last.RelativeCost), significant(selected.RelativeCost))
}

// Differences in cost or in late demand below these shares are not reported.
const (
	smallCost = 0.005
	smallLate = 0.00005
)

// saving compares the served value with the previous HPA. In shadow mode, it says what the forecast would have saved.
func saving(o *v1alpha1.Objective, shadow bool) string {
	uses, is, end := "uses", "is", "."
	if shadow {
		uses, is, end = "would have used", "would have been", ". Forewarm does not serve this value (serve: Shadow)."
	}
	outcome := "and " + lateSaved(o) + " " + is + " late"
	if hours := badHoursSaved(o); hours != "" {
		outcome = "with " + hours
	}
	return fmt.Sprintf("Forewarm %s than the previous HPA, %s%s", hoursSaved(o, uses), outcome, end)
}

// badHoursSaved compares the bad hours with those of the previous HPA. It is empty if bad hours are not limited, or if their number is
// unknown.
func badHoursSaved(o *v1alpha1.Objective) string {
	own, before := o.Served.BadHours, o.Before.BadHours
	switch {
	case o.BadHours == nil || own == nil || before == nil:
		return ""
	case *own == *before:
		return "as many bad hours (" + humanize.Count(int(*own)) + ")"
	}
	return fmt.Sprintf("%s instead of %s", humanize.Plural(int(*own), "bad hour"), humanize.Count(int(*before)))
}

func hoursSaved(o *v1alpha1.Objective, uses string) string {
	saved, paid := *o.Saved.ReplicaHours, *o.Before.ReplicaHours
	size := math.Abs(saved)
	part := ""
	if paid > 0 {
		part = fmt.Sprintf(" (%.0f%%)", 100*size/paid)
	}
	word := "fewer"
	if saved < 0 {
		word = "more"
	}
	if size <= smallCost*paid {
		return uses + " no more replica-hours"
	}
	return fmt.Sprintf("%s %s %s replica-hours%s", uses, number(&size), word, part)
}

func lateSaved(o *v1alpha1.Objective) string {
	saved := *o.Saved.Late
	size := math.Abs(saved)
	switch {
	case size < smallLate:
		return "as much of the demand"
	case saved < 0:
		return humanize.LateShare(size) + " more of the demand"
	}
	return humanize.LateShare(size) + " less of the demand"
}

// headroomReason reports the expected lateness and cost of a headroom multiplier, and of its neighbours on the curve.
func headroomReason(s objective.AutoscalerReport) string {
	if finite(&s.Headroom) == nil || finite(&s.ExpectedLate) == nil || len(s.Curve.Points) == 0 {
		return ""
	}
	own, missed := s.Curve.At(s.Headroom), objective.Goal{BadHours: s.BadHours}.Limited()
	return fmt.Sprintf("With headroom %s, %s of the demand is expected to be %s, at a relative cost of %s.%s%s",
		significant(&s.Headroom), humanize.LateShare(s.ExpectedLate), missed, significant(finite(&own.RelativeCost)),
		neighbour(s, -1), neighbour(s, 1))
}

// neighbour describes the next point of the curve in a direction, −1 or 1, whose displayed digits differ. It is empty if there is none.
func neighbour(s objective.AutoscalerReport, direction float64) string {
	const least = 0.05
	words, distance := "", math.Inf(1)
	for _, p := range s.Curve.Points {
		if d := direction * (p.Multiplier - s.Headroom); d >= least && d < distance && finite(&p.Late) != nil {
			distance = d
			late, cost := humanize.LateShare(p.Late), significant(finite(&p.RelativeCost))
			words = fmt.Sprintf(" With headroom %s, this share would be %s at a relative cost of %s.",
				significant(&p.Multiplier), late, cost)
		}
	}
	return words
}

// selectedAndLastValue returns the selected candidate, which may be the last value, and the last value. Each is nil if it does not exist.
func selectedAndLastValue(o *v1alpha1.Objective) (selected, last *v1alpha1.CandidateCost) {
	for i := range o.Candidates {
		c := &o.Candidates[i]
		if c.Selected {
			selected = c
		}
		if c.Name == windowpeak.LastValue {
			last = c
		}
	}
	return selected, last
}
