package decide

import (
	"cmp"
	"fmt"
	"math"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Rule is how a value was found.
type Rule string

const (
	// byQuantile: a quantile of the window peak.
	byQuantile Rule = "Quantile"
	// byHeadroom: the median of the window peak plus a multiple of its spread.
	byHeadroom Rule = "Headroom"
	// ByRunningMax: a fallback, the highest demand observed over the last lead window.
	ByRunningMax Rule = "RunningMaximum"
	// ByLastSeason: a fallback, the same time last season.
	ByLastSeason Rule = "LastSeason"
	// ByObserved: a fallback, the observed demand: nothing else is known.
	ByObserved Rule = "Observed"
)

// Reason is why the value is served, in one sentence with its numbers.
func (d *Decision) Reason() string {
	text := d.ruleMessage()
	if d.DeadlineFloor > 0 {
		text = fmt.Sprintf("%s is served, so that work with a deadline is done in time: %s",
			humanize.Number(d.DeadlineFloor), text)
	}
	if d.Events != "" {
		text += "; events in the lead window: " + d.Events
	}
	if d.Bounded && !d.Suspect {
		text = fmt.Sprintf("%.6g is served, the most that history can justify (%s): %s", d.Limit.Forecast, d.Limit,
			text)
	}
	if d.Capped {
		text = fmt.Sprintf("%.6g is served instead of %.6g, the most that maxReplicas sustain: %s", d.MaxCapacity,
			d.Uncapped, text)
	}
	if d.Floored && !d.Shadow {
		text = fmt.Sprintf("the observed %.6g is served, it is above the forecast: %s", cmp.Or(d.Ignored, d.Value),
			text)
	}
	if d.Ignored > 0 {
		text = fmt.Sprintf("%.6g is served instead of %.6g, which the autoscaler's tolerance would hide: %s",
			*d.decided(), d.Ignored, text)
	}
	switch {
	case d.Pause.Active():
		text = fmt.Sprintf("paused: %s is served (%s); without the pause it would be %.6g: %s",
			humanize.Number(d.Value), d.Pause.Message(), d.WouldServe, text)
	case d.Shadow:
		text = fmt.Sprintf("shadow mode: the observed %.6g is served; the value would be %.6g: %s",
			d.Observed, d.WouldServe, text)
	}
	if d.Suspect {
		text = fmt.Sprintf("the demand is above what history can justify (%s): %s", d.Limit, text)
	}
	return text
}

// ruleMessage is the rule with its numbers.
func (d *Decision) ruleMessage() string {
	switch d.Rule {
	case byQuantile:
		return fmt.Sprintf("the %.4g quantile of the window peak is %.6g", d.Quantile, d.Forecast)
	case byHeadroom:
		return d.headroomMessage()
	case ByRunningMax:
		return fmt.Sprintf("the highest demand observed over the last %s is %.6g", d.Lookback, d.Forecast)
	case ByLastSeason:
		return fmt.Sprintf("the same time last season reached %.6g, above the running maximum of the last %s",
			d.Forecast, d.Lookback)
	case ByObserved:
	}
	return fmt.Sprintf("only the observed %.6g is known yet", d.Observed)
}

// rise is how many times the observed demand a forecast and the same time last season are where the one explains the other.
const rise = 1.5

// headroomMessage is the sum that the forecast is, in the reader's numbers.
func (d *Decision) headroomMessage() string {
	within := "within the lead window"
	if d.Window > 0 {
		within = "within the next " + humanize.Span(d.Window)
	}
	// The parts are rounded so that they add up.
	expected := humanize.Rounded(d.Median, 4)
	if least := rise * d.Observed; d.Median > least && d.LastSeason > least {
		within += fmt.Sprintf(" (the same time last season reached %s)", humanize.Number(d.LastSeason))
	}
	text := fmt.Sprintf("%s = %s expected %s + %s for what forecasts of this workload missed before",
		humanize.Number(d.Forecast), humanize.Number(expected), within,
		humanize.Number(humanize.Rounded(d.Forecast, 4)-expected))
	if d.HeldSteps > 0 {
		text += fmt.Sprintf(", the highest of the last %d steps", d.HeldSteps)
	}
	if d.Target > 0 && d.Forecast > 0 {
		text += fmt.Sprintf("; %s replicas of %s", humanize.Number(math.Ceil(d.Forecast/d.Target)),
			humanize.Number(d.Target))
	}
	return text
}
