package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// mostSlots is how finely a course is drawn: about a pixel each.
const mostSlots = 1000

// timelineChart is the drawing of what happened under a policy.
type timelineChart struct {
	*chart.Chart

	Policy, Class string
}

// Caption of the drawing.
func (t timelineChart) Caption() string {
	switch t.Policy {
	case compare.HPA:
		return "Before: " + t.Policy + ", as written"
	case compare.BestTarget:
		return "Best in hindsight: " + t.Policy
	}
	return t.Policy
}

// timelineCharts are the drawings of all policies that have a course, on the same axes and in their order. Their ids begin with a
// word of its own.
func timelineCharts(policies []compare.PolicyResult, id string) []timelineChart {
	strips := make([]chart.Strip, len(policies))
	for i := range policies {
		if len(policies[i].Timeline) >= 2 {
			strips[i] = stripOf(policies[i].Timeline)
		}
	}
	top := chart.Top(strips...)
	var out []timelineChart
	for i := range policies {
		p := &policies[i]
		if strips[i].Demand == nil {
			continue
		}
		drawn := strips[i].Chart(top, 220)
		drawn.ID = id + "-" + strconv.Itoa(i)
		drawn.Title = p.Name + ": demand, capacity and late demand"
		drawn.Description = fmt.Sprintf("%s of the demand was late, at a relative cost of %s. %s",
			humanize.Share(p.Report.LateShare()), formatDecimal(p.Report.RelativeCost(), 2), describeWorst(p.Timeline))
		out = append(out, timelineChart{drawn, p.Name, class(p.Name)})
	}
	return out
}

// describeWorst names the time with the most late demand.
func describeWorst(all []compare.Slot) string {
	worst := slices.MaxFunc(all, func(a, b compare.Slot) int { return cmp.Compare(a.Late, b.Late) })
	if worst.Late == 0 {
		return "Nothing was late at any time."
	}
	return fmt.Sprintf("The worst interval began at %s: %s of its demand was late.",
		worst.Start.UTC().Format("15:04 UTC on 2 January"), humanize.Share(worst.Late))
}

// stripOf is a course as a strip.
func stripOf(course []compare.Slot) chart.Strip {
	all := resampled(course, mostSlots)
	return chart.Strip{
		Start: course[0].Start, Long: endOf(course).Sub(course[0].Start), Demand: valuesOf(all, demand),
		Late: valuesOf(all, late), Paid: valuesOf(all, func(s compare.Slot) float64 { return s.Paid }),
		Ready: valuesOf(all, func(s compare.Slot) float64 { return s.Ready }),
		Idle:  valuesOf(all, func(s compare.Slot) float64 { return s.Idle }),
	}
}
