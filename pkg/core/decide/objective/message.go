package objective

import (
	"fmt"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Message is whether the objective is met, and why and by how much if not, with the numbers and what to do.
func (r *Report) Message() string {
	highest, ok := r.MostDemanding()
	if !ok {
		return r.objectiveText()
	}
	first := &r.Autoscalers[0]
	expected, headroom := humanize.LateShare(first.ExpectedLate), humanize.Significant(highest.Headroom, 3)
	switch r.Verdict {
	case Learning:
		from := "that of other workloads"
		if r.Price > 0 {
			from = "a careful one"
		}
		return fmt.Sprintf("%s: %d of 24 hours are observed; until then the headroom %s is %s",
			r.objectiveText(), r.Hours, headroom, from)
	case Met:
		if r.Price > 0 {
			return fmt.Sprintf("%s: headroom %s is the cheapest; with it %s of the demand is expected to be late",
				r.objectiveText(), headroom, expected)
		}
		return fmt.Sprintf("%s; %s did, %s of the budget; headroom %s is served",
			r.objectiveText(), humanize.LateShare(r.Served.LateShare()), r.Budget.spentText(), headroom)
	case Overspent:
		return fmt.Sprintf(
			"%s, but %s did, %s of the budget; until that is made up for, headroom %s is served, with which %s is expected to",
			r.objectiveText(),
			humanize.LateShare(r.Served.LateShare()),
			r.Budget.spentText(),
			headroom,
			expected,
		)
	case AtMaxReplicas:
		return fmt.Sprintf(
			"%s, but %s did: maxReplicas is %d, and the highest demand of the last %s took %d replicas; "+
				"raise maxReplicas",
			r.objectiveText(),
			humanize.LateShare(r.Served.LateShare()),
			first.Max,
			humanize.Period(r.Period),
			r.PeakReplicas,
		)
	case Bounded:
		return fmt.Sprintf("%s, but no more than %.6g is served now: history cannot justify more (%s)",
			r.objectiveText(), r.Limit.Forecast, r.Limit)
	case FasterThanLead:
	}
	top := first.Curve.Points[len(first.Curve.Points)-1]
	return fmt.Sprintf(
		"%s, but %s did: bursts are faster than replicas start (%s). Headroom %s is served; "+
			"%s would leave %s late at %s times the cost, which is not worth it; shorten the lead time or add a warm pool",
		r.objectiveText(),
		humanize.LateShare(r.Served.LateShare()),
		r.Lead,
		headroom,
		humanize.Significant(top.Multiplier, 3),
		humanize.LateShare(top.Late),
		humanize.Significant(top.RelativeCost/first.Curve.At(highest.Headroom).RelativeCost, 3),
	)
}

// objectiveText is the objective, or the price.
func (r *Report) objectiveText() string {
	if r.Price > 0 {
		return fmt.Sprintf("a replica-hour of demand that waits longer than %s costs as much as %.6g idle ones",
			r.Wait, r.Price)
	}
	return fmt.Sprintf("at most %s of the demand of %s may wait longer than %s",
		humanize.LateShare(r.Late), humanize.Period(r.Budget.Over), r.Wait)
}
