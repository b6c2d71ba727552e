package decide

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/credible"
	"github.com/forewarm/forewarm/pkg/windowpeak"
)

// Input is what is known at one step: the observed demand and the distribution of its maximum over the lead window.
type Input struct {
	// Observed demand: the mean of the last minute for rates, the last sample for gauges; no more than is credible.
	Observed float64
	// Suspect says that more was observed than is credible.
	Suspect bool
	// Limit is the most that history justifies.
	Limit credible.Limit
	// Peak is the selected candidate's forecast of that maximum, to whose median an objective adds headroom.
	Peak windowpeak.Peak
	// Window is the distribution of the maximum over the lead window, as the selected candidate has it.
	Window windowpeak.Quantiles
}

// Decision is the value to serve and why.
type Decision struct {
	Value float64
	// Observed is the demand now.
	Observed float64
	// Quantile is the level served, 0 where the margin ruled.
	Quantile float64
	// Margin is k, 0 where a quantile ruled.
	Margin float64
	// Floored says that the observed demand was above the forecast and is served instead.
	Floored bool
	// Bounded says that the value, be it forecast or observed, was cut to what history justifies.
	Bounded bool
	// Reason is one sentence with the numbers.
	Reason string
}

// Decide is the value to serve at the newest of the inputs, which ascend in time and are one step apart. An objective
// serves k times the spread above the median, and looks back over half the lead time (Recall); a quantile needs the newest
// input only. At least one input is needed.
//
// Worked: q50 = 100, q95 = 120, k = 1.3 and 110 observed serve 100 + 1.3·20 = 126, and go on serving at least that for
// half the lead time.
func Decide(policy Policy, k float64, inputs []Input) Decision {
	newest := inputs[len(inputs)-1]
	var d Decision
	if policy.ByOutcome() {
		d = byMargin(policy, k, inputs)
	} else {
		d = byQuantile(policy.Level(), &newest)
	}
	d.Observed = newest.Observed
	d = serve(policy, d)
	if newest.Suspect && d.Value == newest.Observed {
		d.Bounded = true
		d.Reason = fmt.Sprintf("more is observed than its history justifies (%s): %s", newest.Limit, d.Reason)
	}
	return d
}

// Recall is how many inputs an objective looks at: those of the last half lead time, the newest included.
func Recall(lead, step time.Duration) int {
	return 1 + int(lead/(2*step))
}

func byQuantile(level float64, in *Input) Decision {
	value := in.Window.At(level)
	d := Decision{
		Value: value, Quantile: level, Bounded: in.Limit.Known && value > 0 && value >= in.Limit.Forecast,
		Reason: fmt.Sprintf("the %.4g quantile of the window's maximum is %.6g", level, value),
	}
	if d.Bounded { // The distribution is bounded already.
		d.Reason = fmt.Sprintf("%s, all that its history justifies (%s)", d.Reason, in.Limit)
	}
	return d
}

func byMargin(policy Policy, k float64, inputs []Input) Decision {
	value, at := forecastOf(k, inputs)
	limit := inputs[len(inputs)-1].Limit
	value, bounded := limit.Cut(value)
	floor := highestObserved(inputs)
	floored := policy.Mode != Forecast && floor > value
	if floored {
		value = floor
	}
	p := inputs[at].Peak
	held := ""
	if at < len(inputs)-1 {
		held = fmt.Sprintf(", the highest of the last %d steps", len(inputs))
	}
	d := Decision{Margin: k, Value: value, Bounded: bounded, Reason: fmt.Sprintf(
		"median %.6g of the window's maximum plus k = %.3g times the spread %.6g%s",
		p.Median,
		k,
		p.Spread,
		held,
	)}
	switch {
	case floored:
		d.Floored, d.Bounded = true, false
		d.Reason = fmt.Sprintf("the observed %.6g is served, above the forecast: %s", floor, d.Reason)
	case bounded:
		d.Reason = fmt.Sprintf("%.6g is all that its history justifies (%s): %s", limit.Forecast, limit, d.Reason)
	}
	return d
}

// Held is what the inputs are worth under a multiple of their spreads with the observed demand as the floor: the largest of
// the forecasts, no more than the newest limit, and no less than any of the observed.
func Held(k float64, inputs []Input) float64 {
	var value [1]float64
	HeldTo(value[:], []float64{k}, inputs)
	return value[0]
}

// HeldTo writes what the inputs are worth under each of the multiples (see Held) to dst.
func HeldTo(dst, multiples []float64, inputs []Input) {
	limit, floor := inputs[len(inputs)-1].Limit, highestObserved(inputs)
	for i, k := range multiples {
		value, _ := forecastOf(k, inputs)
		value, _ = limit.Cut(value)
		dst[i] = math.Max(value, floor)
	}
}

// forecastOf is the largest of the forecasts under a multiple of their spreads, and which of them it is: the newest of
// equals.
func forecastOf(k float64, inputs []Input) (value float64, at int) {
	value = math.Inf(-1)
	for i := range inputs {
		if worth := inputs[i].Peak.Median + k*inputs[i].Peak.Spread; worth >= value {
			value, at = worth, i
		}
	}
	return value, at
}

func highestObserved(inputs []Input) float64 {
	highest := 0.0
	for i := range inputs {
		highest = math.Max(highest, inputs[i].Observed)
	}
	return highest
}

// serve applies the mode, and keeps the value what it can be: never negative, and no more than all replicas sustain.
func serve(policy Policy, d Decision) Decision {
	d.Value = math.Max(d.Value, 0)
	if most := policy.Usable; most > 0 && d.Value > most {
		d.Reason = fmt.Sprintf(
			"%.6g, all that the most replicas sustain, is served, and not %.6g: %s",
			most,
			d.Value,
			d.Reason,
		)
		d.Value = most
	}
	switch {
	case policy.Mode == Shadow:
		d.Reason = fmt.Sprintf("shadow: the observed %.6g is served; otherwise %.6g: %s", d.Observed, d.Value, d.Reason)
		d.Value = d.Observed
	case policy.Mode != Forecast && d.Value < d.Observed:
		d.Reason = fmt.Sprintf("the observed %.6g is served, above the forecast: %s", d.Observed, d.Reason)
		d.Value, d.Floored = d.Observed, true
	}
	return d
}
