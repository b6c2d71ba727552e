package decide

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/credible"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
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

// Decision is the value to serve and why: what a rule gave, and what became of it. Reason says it in a sentence.
type Decision struct {
	Value float64
	// Observed is the demand now.
	Observed float64

	// Rule is what the value follows from, Forecast what it gave.
	Rule     Rule
	Forecast float64
	// Quantile is the level served, 0 where no quantile ruled.
	Quantile float64
	// Margin is k, of which many spreads are served above the Median, where headroom ruled; Held is how many steps were looked
	// back over where the highest forecast was not the newest.
	Margin, Median, Spread float64
	Held                   int
	// Over is what a fallback looked back over.
	Over time.Duration

	// Floored says that the observed demand was above the forecast and is served instead.
	Floored bool
	// Bounded says that the value, be it forecast or observed, was cut to the Limit, which is what history justifies; Suspect
	// that it is the observed demand that was.
	Bounded, Suspect bool
	Limit            credible.Limit
	// Capped says that all replicas sustain no more than Usable, which is served in place of what was Wanted.
	Capped         bool
	Usable, Wanted float64
	// Shadow says that the observed demand is served and what the value would be is recorded: Otherwise.
	Shadow    bool
	Otherwise float64
}

// Decide is the value to serve at the newest of the inputs, which ascend in time and are one step apart. An objective
// serves k times the spread above the median, and looks back over half the lead time (Recall); a quantile needs the newest
// input only. At least one input is needed.
//
// Worked: q50 = 100, q95 = 120, k = 1.3 and 110 observed serve 100 + 1.3·20 = 126, and go on serving at least that for
// half the lead time.
func Decide(policy Policy, k float64, inputs []Input) Decision {
	newest := &inputs[len(inputs)-1]
	d := Decision{Observed: newest.Observed, Limit: newest.Limit}
	floor := 0.0
	if policy.ByOutcome() {
		d.byHeadroom(k, inputs)
		floor = highestObserved(inputs)
	} else {
		d.byQuantile(policy.Level(), newest.Window)
	}
	d.serve(policy, floor)
	if newest.Suspect && d.Value == d.Observed {
		d.Bounded, d.Suspect = true, true
	}
	return d
}

// Fallback is the decision where no candidate serves: by a rule that gave a forecast, over a time of the past, and never less
// than is observed.
func Fallback(policy Policy, rule Rule, forecast, observed float64, over time.Duration) Decision {
	d := Decision{Rule: rule, Forecast: forecast, Value: forecast, Observed: observed, Over: over}
	if policy.Mode == Forecast {
		policy.Mode = Floor
	}
	policy.Usable = 0
	d.serve(policy, 0)
	return d
}

// Recall is how many inputs an objective looks at: those of the last half lead time, the newest included.
func Recall(lead, step time.Duration) int {
	return 1 + int(lead/(2*step))
}

func (d *Decision) byQuantile(level float64, window windowpeak.Quantiles) {
	d.Rule, d.Quantile = ByQuantile, level
	d.Forecast = window.At(level)
	d.Value = d.Forecast
	d.Bounded = d.Limit.Known && d.Value > 0 && d.Value >= d.Limit.Forecast // The distribution is bounded already.
}

func (d *Decision) byHeadroom(k float64, inputs []Input) {
	d.Rule, d.Margin = ByHeadroom, k
	var at int
	d.Forecast, at = forecastOf(k, inputs)
	d.Median, d.Spread = inputs[at].Peak.Median, inputs[at].Peak.Spread
	if at < len(inputs)-1 {
		d.Held = len(inputs)
	}
	d.Value, d.Bounded = d.Limit.Cut(d.Forecast)
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

// serve applies the mode and the floor, and keeps the value what it can be: never negative, and no more than all replicas
// sustain but for what is observed now.
func (d *Decision) serve(policy Policy, floor float64) {
	d.Value = math.Max(d.Value, 0)
	if policy.Mode != Forecast && floor > d.Value {
		d.Value, d.Floored = floor, true
	}
	if most := policy.Usable; most > 0 && d.Value > most {
		d.Capped, d.Usable, d.Wanted, d.Floored = true, most, d.Value, false
		d.Value = most
	}
	switch {
	case policy.Mode == Shadow:
		d.Shadow, d.Otherwise, d.Value = true, d.Value, d.Observed
	case policy.Mode != Forecast && d.Value < d.Observed:
		d.Value, d.Floored = d.Observed, true
	}
	d.Bounded = d.Bounded && !d.Floored
}
