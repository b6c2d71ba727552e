package decide

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Rule is how a value was found.
type Rule string

const (
	// byQuantile serves a quantile of the window peak.
	byQuantile Rule = "Quantile"
	// byHeadroom serves the median of the window peak plus a multiple of its spread.
	byHeadroom Rule = "Headroom"
	// ByRunningMax is a fallback that serves the highest demand that was observed in the last lead window.
	ByRunningMax Rule = "RunningMaximum"
	// ByLastSeason is a fallback that serves the demand at the same time last season.
	ByLastSeason Rule = "LastSeason"
	// ByObserved is a fallback that serves the observed demand, because nothing else is known.
	ByObserved Rule = "Observed"
)

// Reason is why the value is served: the rule with its numbers, and then each step that changed the result, in order.
func (d *Decision) Reason() string {
	parts := []string{d.ruleMessage()}
	add := func(format string, a ...any) { parts = append(parts, fmt.Sprintf(format, a...)) }
	before := *d.decided()
	if d.Raised {
		before = d.Unraised
	}
	if d.Events != "" {
		add("events in the lead window: %s", d.Events)
	}
	if d.DeadlineFloor > 0 {
		add("raised to %s so that work with a deadline finishes in time", humanize.Number(d.DeadlineFloor))
	}
	if d.Suspect {
		add("the measured demand is higher than the history justifies (%s), so it counts as %.6g", d.Limit, d.Observed)
	} else if d.Bounded {
		add("limited to %.6g, the most that the history justifies (%s)", d.Limit.Forecast, d.Limit)
	}
	if d.Capped {
		add("limited from %.6g to %.6g, the capacity at maxReplicas", d.Uncapped, d.MaxCapacity)
	}
	if d.Floored {
		add("raised to %.6g, because the observed demand is higher than the forecast", cmp.Or(d.Ignored, before))
	}
	if d.Ignored > 0 {
		add("raised from %.6g to %.6g, because the autoscaler's tolerance would ignore the smaller value", d.Ignored,
			before)
	}
	if d.Raised {
		add("raised from %.6g to %s for the replicas that events ask for", d.Unraised, humanize.Number(d.Minimum))
	}
	if d.Zero.Asleep {
		add("0 is served instead of %.6g, because for a lead window nothing was observed and less than a tenth of a "+
			"replica was expected", d.Zero.Awake)
	}
	if d.Zero.Never != "" && d.Observed == 0 {
		add("the rule for idle workloads does not apply, because %s", d.Zero.Never)
	}
	text := strings.Join(parts, "; ")
	switch {
	case d.Pause.Active():
		return fmt.Sprintf("paused at a value of %s: %s; without the pause, Forewarm would serve %.6g: %s",
			humanize.Number(d.Value), d.Pause.Message(), d.WouldServe, text)
	case d.Shadow:
		return fmt.Sprintf("shadow mode: serving the observed demand of %.6g; otherwise, Forewarm would serve %.6g: %s",
			d.Observed, d.WouldServe, text)
	}
	return text
}

// ruleMessage describes the rule with its numbers.
func (d *Decision) ruleMessage() string {
	switch d.Rule {
	case byQuantile:
		return fmt.Sprintf("the %.4g quantile of the window peak is %.6g", d.Quantile, d.Forecast)
	case byHeadroom:
		return d.headroomMessage()
	case ByRunningMax:
		return fmt.Sprintf("the highest demand observed over the last %s is %.6g", d.Lookback, d.Forecast)
	case ByLastSeason:
		return fmt.Sprintf("the demand at the same time last season reached %.6g, which is higher than the "+
			"running maximum of the last %s", d.Forecast, d.Lookback)
	case ByObserved:
	}
	return fmt.Sprintf("so far only the observed demand of %.6g is known", d.Observed)
}

// rise is the factor by which both the forecast and the same time last season must exceed the observed demand before the reason mentions
// last season as the explanation.
const rise = 1.5

// headroomMessage explains the forecast as a sum: the forecast peak plus the headroom. The printed numbers add up.
func (d *Decision) headroomMessage() string {
	window := "the lead window"
	if d.Window > 0 {
		window = "the next " + humanize.Span(d.Window)
	}
	expected := humanize.Rounded(d.Median, 4)
	peak := humanize.Number(expected)
	if least := rise * d.Observed; d.Median > least && d.LastSeason > least {
		peak += fmt.Sprintf(" (the same time last season reached %s)", humanize.Number(d.LastSeason))
	}
	text := fmt.Sprintf("the forecast peak within %s is %s, ", window, peak)
	if headroom := humanize.Rounded(d.Forecast, 4) - expected; headroom > 0 {
		text += fmt.Sprintf("plus %s headroom for past forecast errors: %s in total", humanize.Number(headroom),
			humanize.Number(d.Forecast))
	} else {
		text += "without headroom"
	}
	if d.Target > 0 && d.Forecast > 0 {
		text += fmt.Sprintf(" (%s at %s each)", humanize.Plural(int(math.Ceil(d.Forecast/d.Target)), "replica"),
			humanize.Number(d.Target))
	}
	if d.HeldSteps > 0 {
		text += fmt.Sprintf("; this is the highest total of the last %d steps, held for half the lead time",
			d.HeldSteps)
	}
	return text
}
