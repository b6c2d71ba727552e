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
		"the budget's period (over) is %s, which is too short for badHours: on average, a single hour has %s of the "+
			"demand of that period, and the period does not contain every day of the week; set spec.objective.over to "+
			"at least 7d (and spec.history, too, if it is shorter)",
		period,
		humanize.LateShare(time.Hour.Hours()/over.Hours()),
	)
}

// Message says whether the objective is met. If not, it says why, by how much, and what to do.
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
		from := "learned from other workloads"
		if r.Price > 0 {
			from = "a cautious default"
		}
		return fmt.Sprintf("%s. Forewarm has observed %d of the 24 hours that it needs to calibrate the headroom. "+
			"Until then, it uses headroom %s, which is %s", r.goalText(), r.Hours, headroom, from)
	case Met:
		if r.Price > 0 {
			return fmt.Sprintf("%s. Headroom %s has the lowest total cost. With this headroom, %s of the demand "+
				"is expected to be late", r.goalText(), headroom, expected)
		}
		return fmt.Sprintf("%s. So far, %s, which is %s of the budget. Forewarm uses headroom %s%s",
			r.goalText(), r.servedShare(), r.Budget.spentText(), headroom, r.namedHoursText())
	case Overspent:
		served := first.Curve.At(first.Headroom)
		return fmt.Sprintf("%s. In the last %s, %s, which is %s of the budget. Forewarm now uses headroom %s, "+
			"with which %s of the demand is expected to be %s at a relative cost of %s%s", r.goalText(),
			humanize.Period(r.Period), r.servedShare(), r.Budget.spentText(), humanize.Significant(first.Headroom, 3),
			expected, r.Goal().Limited(), humanize.Significant(served.RelativeCost, 3), r.namedHoursText())
	case AtMaxReplicas:
		return fmt.Sprintf("%s, but %s. maxReplicas is %d, but the highest demand of the last %s needed %d "+
			"replicas. Raise maxReplicas", r.goalText(), r.servedShare(), first.Max,
			humanize.Period(r.Period), r.PeakReplicas)
	case Bounded:
		return fmt.Sprintf("%s, but Forewarm limits the value to %.6g now, because the history does not justify "+
			"more (%s)", r.goalText(), r.Limit.Forecast, r.Limit)
	case FasterThanLead:
	}
	top := first.Curve.Points[len(first.Curve.Points)-1]
	return fmt.Sprintf("%s, but %s: the demand rises faster than replicas start (the lead time is %s). Forewarm uses "+
		"headroom %s. With headroom %s, %s of the demand would still be %s at %s times the cost, so Forewarm does not "+
		"use it. Shorten the lead time or add a warm pool", r.goalText(), r.servedShare(), r.Lead, headroom,
		humanize.Significant(top.Multiplier, 3), humanize.LateShare(top.Late), r.Goal().Limited(),
		humanize.Significant(top.RelativeCost/first.Curve.At(highest.Headroom).RelativeCost, 3))
}

// Goal is the goal of the objective or the cost ratio.
func (r *Report) Goal() Goal { return Goal{r.Late, r.BadHours, r.Price} }

// goalText is the goal in full.
func (r *Report) goalText() string { return r.Goal().Sentence(r.Wait, r.Budget.Over) }

// servedShare is the share of the demand that was late with the served values or, with BadHours, that arrived in bad
// hours: "0.62% was late".
func (r *Report) servedShare() string {
	goal := r.Goal()
	return humanize.LateShare(r.Served.share(goal)) + " was " + goal.Limited()
}

// Headline is the verdict on Forewarm compared with the previous HPA in one sentence; empty without demand. In shadow mode it says what
// Forewarm would have done.
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
		measured := " According to objective.measured, " + humanize.LateShare(
			r.Measured.Late,
		) + " of the demand was late"
		if shadow {
			measured += " without Forewarm"
		}
		text += measured + "."
	}
	if r.Judged.Word == verdict.CostsMore {
		text += " Check the lead time and the signal, loosen the objective, or set serve: Shadow."
	}
	return text
}

// namedHoursText lists the bad hours at the end of a message about an objective that limits them.
func (r *Report) namedHoursText() string {
	if !r.BadHours || r.Served.BadHours == 0 {
		return ""
	}
	return ". " + r.Bad.String()
}
