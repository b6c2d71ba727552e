package inspect

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// summary says what became of the demand by the served value and by the observed one, and what that saves or costs.
func summary(o *v1alpha1.Outcome, shadow bool) string {
	switch {
	case o.Over.Duration <= 0:
		return "No demand was played yet."
	case o.Served.Late == nil || o.Observed.Late == nil:
		return "No demand came in the last " + humanize.Period(o.Over.Duration) + ": there is nothing to account for."
	}
	by := "the autoscaler"
	if len(o.Scalings) > 0 {
		by = o.Scalings[0].By
	}
	text := fmt.Sprintf("A shadow of %s played the last %s of demand: on forewarm's value %s of it was late at %s the "+
		"demand's own replica-hours, on the observed demand, without headroom, %s at %s.", by, humanize.Period(o.Over.Duration),
		lateShare(o.Served.Late), times(o.Served.Cost), lateShare(o.Observed.Late), times(o.Observed.Cost))
	if o.Saved.Late == nil || o.Saved.ReplicaHours == nil {
		return text
	}
	return text + " " + saving(o, shadow) + reactive(o)
}

// reactive compares what serves with the best that can be done without a forecast, at the same lateness or cost
// ratio: the last value under a margin of its own. It is what a share saved of a rule without headroom cannot say.
func reactive(o *v1alpha1.Outcome) string {
	serves, last := rivals(o)
	switch {
	case serves == nil || last == nil || serves == last || serves.Cost == nil || last.Cost == nil || !serves.Meets:
		return ""
	case o.CostRatio != nil:
		return fmt.Sprintf(" At that cost ratio the last value with a margin of its own would leave %s late at "+
			"%s; what serves leaves %s at %s.", lateShare(last.Late), times(last.Cost), lateShare(serves.Late), times(serves.Cost))
	case !last.Meets:
		return fmt.Sprintf(" The last value with a margin of its own would not keep the objective: %s late at %s.",
			lateShare(last.Late), times(last.Cost))
	}
	return fmt.Sprintf(" To keep the objective, the last value with a margin of its own would take %s; "+
		"what serves takes %s.", times(last.Cost), times(serves.Cost))
}

// What is smaller is no difference to speak of: a share of the cost, and of the demand.
const (
	smallCost = 0.005
	smallLate = 0.00005
)

// saving says what the served value saves or costs against the observed one, or would where it is only watched.
func saving(o *v1alpha1.Outcome, shadow bool) string {
	saves, costs, spares, makes, leaves := "saves", "costs", "spares", "makes", "leaves"
	who := "Forewarm's value"
	if shadow {
		who = "Forewarm only watches (serve: Shadow); its value"
		saves, costs = "would have saved", "would have cost"
		spares, makes, leaves = "spared", "made", "left"
	}
	return fmt.Sprintf("%s %s and %s.", who, hoursSaved(o, saves, costs), lateSaved(o, spares, makes, leaves))
}

func hoursSaved(o *v1alpha1.Outcome, saves, costs string) string {
	saved, paid := *o.Saved.ReplicaHours, *o.Observed.ReplicaHours
	size := math.Abs(saved)
	part := ""
	if paid > 0 {
		part = fmt.Sprintf(" (%.0f%%)", 100*size/paid)
	}
	switch {
	case size <= smallCost*paid:
		return costs + " as many replica-hours"
	case saved < 0:
		return fmt.Sprintf("%s %s replica-hours more%s", costs, number(&size), part)
	}
	return fmt.Sprintf("%s %s replica-hours%s", saves, number(&size), part)
}

func lateSaved(o *v1alpha1.Outcome, spares, makes, leaves string) string {
	spared := *o.Saved.Late
	size := math.Abs(spared)
	switch {
	case size < smallLate:
		return leaves + " as much of the demand late"
	case spared < 0:
		return fmt.Sprintf("%s %s more of the demand late", makes, humanize.Late(size))
	}
	return fmt.Sprintf("%s %s of the demand from being late", spares, humanize.Late(size))
}

// marginWords say what is expected of a margin, and of its neighbours on the curve that it was read from.
func marginWords(s outcome.Scaled) string {
	if finite(&s.K) == nil || finite(&s.Expected) == nil || len(s.Curve.Points) == 0 {
		return ""
	}
	own := s.Curve.At(s.K)
	return fmt.Sprintf("k = %s is expected to leave %s late at %s the demand's own replica-hours%s%s.",
		multiple(&s.K), humanize.Late(s.Expected), times(finite(&own.Cost)), neighbour(s, -1), neighbour(s, 1))
}

// neighbour is what the point of the curve would do that is next to the margin in a direction, −1 or 1, by a digit that is
// seen; empty where there is none.
func neighbour(s outcome.Scaled, direction float64) string {
	const least = 0.05
	words, distance := "", math.Inf(1)
	for _, p := range s.Curve.Points {
		if d := direction * (p.K - s.K); d >= least && d < distance && finite(&p.Late) != nil {
			distance = d
			late, cost := humanize.Late(p.Late), times(finite(&p.Cost))
			words = fmt.Sprintf("; %s would leave %s at %s", multiple(&p.K), late, cost)
		}
	}
	return words
}

// rivals are the candidate that serves and the last value; nil where there is none, and the same where it serves.
func rivals(o *v1alpha1.Outcome) (serves, last *v1alpha1.CandidateCost) {
	for i := range o.Candidates {
		c := &o.Candidates[i]
		if c.Serves {
			serves = c
		}
		if c.Name == windowpeak.LastValue {
			last = c
		}
	}
	return serves, last
}
