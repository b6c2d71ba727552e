package decide

import "fmt"

// Rule is what a value follows from.
type Rule string

const (
	// ByQuantile: a quantile of the window peak.
	ByQuantile Rule = "Quantile"
	// ByHeadroom: the median of the window peak, and a multiple of its spread.
	ByHeadroom Rule = "Headroom"
	// ByRunningMax: no candidate serves; the highest that was observed over the lead window.
	ByRunningMax Rule = "RunningMaximum"
	// ByLastSeason: no candidate serves; the same time last season.
	ByLastSeason Rule = "LastSeason"
	// ByObserved: no candidate serves, and nothing but the demand now is known.
	ByObserved Rule = "Observed"
)

// Reason is why the value is served, in one sentence with the numbers.
func (d *Decision) Reason() string {
	text := d.rule()
	if d.Bounded && !d.Suspect {
		text = fmt.Sprintf("%.6g is all that its history justifies (%s): %s", d.Limit.Forecast, d.Limit, text)
	}
	if d.Capped {
		text = fmt.Sprintf(
			"%.6g, all that the most replicas sustain, is served, and not %.6g: %s",
			d.Usable,
			d.Wanted,
			text,
		)
	}
	switch {
	case d.Shadow:
		text = fmt.Sprintf("shadow: the observed %.6g is served; otherwise %.6g: %s", d.Observed, d.Otherwise, text)
	case d.Floored:
		text = fmt.Sprintf("the observed %.6g is served, above the forecast: %s", d.Value, text)
	}
	if d.Suspect {
		text = fmt.Sprintf("more is observed than its history justifies (%s): %s", d.Limit, text)
	}
	return text
}

// rule is what the rule gave, in words.
func (d *Decision) rule() string {
	switch d.Rule {
	case ByQuantile:
		return fmt.Sprintf("the %.4g quantile of the window's maximum is %.6g", d.Quantile, d.Forecast)
	case ByHeadroom:
		text := fmt.Sprintf("median %.6g of the window's maximum plus k = %.3g times the spread %.6g",
			d.Median, d.Margin, d.Spread)
		if d.Held > 0 {
			text += fmt.Sprintf(", the highest of the last %d steps", d.Held)
		}
		return text
	case ByRunningMax:
		return fmt.Sprintf("the running maximum of the observed demand over %s is %.6g", d.Over, d.Forecast)
	case ByLastSeason:
		return fmt.Sprintf("the same time last season reached %.6g, above the running maximum of the last %s",
			d.Forecast, d.Over)
	case ByObserved:
	}
	return fmt.Sprintf("the observed %.6g is all that is known yet", d.Observed)
}
