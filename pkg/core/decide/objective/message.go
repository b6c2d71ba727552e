package objective

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/verdict"
)

// wholeWeek is the shortest period that an objective by bad hours should have: all days of the week.
const wholeWeek = 7 * 24 * time.Hour

// ShortPeriodAdvice is why a budget's period is too short for an objective by bad hours, and what to do; empty if it is long enough.
func ShortPeriodAdvice(over time.Duration) string {
	if over <= 0 || over >= wholeWeek {
		return ""
	}
	period := humanize.Period(over)
	if over%(24*time.Hour) != 0 {
		period = fmt.Sprintf("%.0f hours", over.Hours())
	}
	return fmt.Sprintf(
		"over is %s, which is short for badHours: on average one hour has %s of the demand of that period, and it does "+
			"not contain every day of the week; set spec.objective.over to at least 7d (and spec.history, if it is shorter)",
		period,
		humanize.LateShare(time.Hour.Hours()/over.Hours()),
	)
}

// Message is whether the objective is met, and why and by how much if not, with the numbers and what to do.
func (r *Report) Message() string {
	if advice := ShortPeriodAdvice(r.Budget.Over); r.BadHours && advice != "" {
		return r.message() + ". Warning: " + advice
	}
	return r.message()
}

func (r *Report) message() string {
	highest, ok := r.MostDemanding()
	if !ok {
		return r.goalText()
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
			r.goalText(), r.Hours, headroom, from)
	case Met:
		if r.Price > 0 {
			return fmt.Sprintf("%s: headroom %s is the cheapest; with it %s of the demand is expected to be late",
				r.goalText(), headroom, expected)
		}
		return fmt.Sprintf("%s; %s did, %s of the budget; headroom %s is served%s",
			r.goalText(), r.servedShare(), r.Budget.spentText(), headroom, r.namedHoursText())
	case Overspent:
		served := first.Curve.At(first.Headroom)
		return fmt.Sprintf("%s; %s did in the last %s, %s of the budget; headroom %s is served now at relative cost "+
			"%s, and %s is expected to be %s with it%s", r.goalText(), r.servedShare(), humanize.Period(r.Period),
			r.Budget.spentText(), humanize.Significant(first.Headroom, 3), humanize.Significant(served.RelativeCost, 3),
			expected, r.Goal().Limited(), r.namedHoursText())
	case AtMaxReplicas:
		return fmt.Sprintf("%s, but %s did: maxReplicas is %d, and the highest demand of the last %s took %d "+
			"replicas; raise maxReplicas", r.goalText(), r.servedShare(), first.Max,
			humanize.Period(r.Period), r.PeakReplicas)
	case Bounded:
		return fmt.Sprintf("%s, but no more than %.6g is served now: history cannot justify more (%s)",
			r.goalText(), r.Limit.Forecast, r.Limit)
	case FasterThanLead:
	}
	top := first.Curve.Points[len(first.Curve.Points)-1]
	return fmt.Sprintf("%s, but %s did: bursts are faster than replicas start (%s). Headroom %s is served; %s "+
		"would leave %s %s at %s times the cost, which is not worth it; shorten the lead time or add a warm pool",
		r.goalText(), r.servedShare(), r.Lead, headroom,
		humanize.Significant(top.Multiplier, 3), humanize.LateShare(top.Late), r.Goal().Limited(),
		humanize.Significant(top.RelativeCost/first.Curve.At(highest.Headroom).RelativeCost, 3))
}

// Goal is what is asked of Forewarm.
func (r *Report) Goal() Goal { return Goal{r.Late, r.BadHours, r.Price} }

// goalText is the goal in full.
func (r *Report) goalText() string { return r.Goal().Sentence(r.Wait, r.Budget.Over) }

// servedShare is the share of the demand that was late with what was served or, with BadHours, that arrived in bad hours.
func (r *Report) servedShare() string {
	return humanize.LateShare(r.Served.share(r.Goal()))
}

// Headline is the verdict on Forewarm against the HPA before in one sentence; empty without demand. In shadow mode it is what would have
// been.
func (r *Report) Headline(shadow bool) string {
	switch {
	case r.Judged == nil:
		return ""
	case shadow:
		return "In shadow mode: " + r.Judged.Headline()
	}
	return r.Judged.Headline()
}

// Details are the figures behind the Headline, with what was measured and what to do; empty without demand.
func (r *Report) Details(shadow bool) string {
	if r.Judged == nil {
		return ""
	}
	text := r.Judged.Details()
	if r.Measured != nil {
		measured := " " + humanize.LateShare(r.Measured.Late) + " of the demand was measured as late"
		if shadow {
			measured += ", without Forewarm"
		}
		text += measured + "."
	}
	if r.Judged.Word == verdict.CostsMore {
		text += " Check the lead time and the signal, loosen the objective, or set serve: Shadow."
	}
	return text
}

// namedHoursText names the bad hours at the end of a message about an objective that limits them.
func (r *Report) namedHoursText() string {
	if !r.BadHours || r.Served.BadHours == 0 {
		return ""
	}
	return "; " + r.Bad.String()
}
