package report

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// resampled makes at most so many of a course, each of as many neighbours but for one.
func resampled(course []compare.Slot, most int) []compare.Slot {
	if most < 1 || len(course) <= most {
		return course
	}
	out := make([]compare.Slot, most)
	for i := range out {
		out[i] = mergedSlot(course[i*len(course)/most : (i+1)*len(course)/most])
	}
	return out
}

// mergedSlot is a stretch as one slot. The demand of a slot is known by its maximum alone, so that is the weight of its late
// share.
func mergedSlot(part []compare.Slot) compare.Slot {
	nan := math.NaN()
	out := compare.Slot{Start: part[0].Start, Demand: nan, Ready: nan, Paid: nan}
	weight, late := 0.0, 0.0
	for _, s := range part {
		out.Idle = max(out.Idle, s.Idle)
		out.Demand, out.Paid = series.MaxKnown(out.Demand, s.Demand), series.MaxKnown(out.Paid, s.Paid)
		out.Ready = -series.MaxKnown(-out.Ready, -s.Ready)
		if s.Demand > 0 && !math.IsNaN(s.Late) {
			weight += s.Demand
			late += s.Demand * s.Late
		}
	}
	if weight > 0 {
		out.Late = late / weight
	}
	return out
}

// demand and late are what is drawn of a slot most often.
func demand(s compare.Slot) float64 { return s.Demand }

func late(s compare.Slot) float64 { return s.Late }

// valuesOf is a value of every slot.
func valuesOf(course []compare.Slot, value func(compare.Slot) float64) []float64 {
	out := make([]float64, len(course))
	for i, s := range course {
		out[i] = value(s)
	}
	return out
}

// endOf is when a course ends: its slots are of equal length.
func endOf(course []compare.Slot) time.Time {
	last := course[len(course)-1].Start
	if len(course) < 2 {
		return last
	}
	return last.Add(course[1].Start.Sub(course[0].Start))
}
