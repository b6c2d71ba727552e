package decide

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Input is what is known at one step: the observed demand and the window peak forecast.
type Input struct {
	// Observed demand, at most what is credible: the mean of the last minute for rates, the last sample for gauges.
	Observed float64
	// Suspect reports that the measured demand was above what is credible.
	Suspect bool
	// Limit is the most that the history justifies.
	Limit demand.Limit
	// Peak is the selected candidate's forecast. An objective adds headroom to its median.
	Peak windowpeak.Peak
	// Quantiles of the window peak, by the selected candidate.
	Quantiles windowpeak.Quantiles
	// Events describes the events in the lead window; empty if there are none. The Peak, the Quantiles and the Limit include their
	// effect.
	Events string
	// DeadlineFloor is the value that work with a deadline needs in addition to the demand; 0 if the headroom is sufficient.
	DeadlineFloor float64
	// Minimum is the value of the replicas that events ask for; 0 if there are none. The Peak, the Quantiles and the Limit do not include it.
	Minimum float64
	// DeadBand of the autoscaler, which ignores values within it; empty where it is unknown.
	DeadBand hpa.DeadBand
}

// Decision is the value to serve, with the numbers that Reason puts into a sentence.
type Decision struct {
	Value float64
	// Observed demand at this step.
	Observed float64

	// Rule is how the value was found, and Forecast its result before floors and limits. Expected is the Forecast without headroom: the
	// highest median of the inputs.
	Rule               Rule
	Forecast, Expected float64
	// Quantile is the level that was served; 0 for other rules.
	Quantile float64
	// Headroom is the multiplier k: Median + k·Spread is served. HeldSteps is the number of steps in the held time if an older forecast was
	// higher than the newest one; otherwise 0.
	Headroom, Median, Spread float64
	HeldSteps                int
	// Target is the demand that a replica sustains, and Window the lead window; 0 where unknown.
	Target float64
	Window time.Duration
	// LastSeason is the highest demand of the same window a season ago, which explains a recurring rise; 0 or NaN if unknown.
	LastSeason float64
	// Events is the Events of the newest Input.
	Events string
	// Lookback is the time over which a fallback looked back.
	Lookback time.Duration

	// DeadlineFloor is the value that work with a deadline needs, if it is above the Forecast; otherwise 0.
	DeadlineFloor float64

	// Floored reports that the observed demand is above the forecast and is served instead.
	Floored bool
	// Bounded reports that the value was reduced to Limit, the most that the history justifies. Suspect reports that the observed
	// demand was reduced instead of the forecast.
	Bounded, Suspect bool
	Limit            demand.Limit
	// Capped reports that MaxCapacity, the capacity at maxReplicas, is served instead of Uncapped.
	Capped                bool
	MaxCapacity, Uncapped float64
	// Ignored is a value that the autoscaler would ignore. The lowest value that it does not ignore is served instead. 0 if there is
	// no such value.
	Ignored float64
	// Minimum is the value of the replicas that events ask for; 0 if there are none. Raised reports that it is served instead of Unraised.
	Minimum, Unraised float64
	Raised            bool
	// Zero is what became of the value because the workload may scale to zero.
	Zero Zero
	// Shadow reports shadow mode or a Pause: the observed demand is served, and WouldServe is recorded.
	Shadow     bool
	WouldServe float64
	Pause      Pause
}

// Decide returns the value to serve at the newest input. The inputs ascend in time, one step apart; at least one is needed. An objective
// serves median + k·spread and holds it for half the lead time (HoldSteps). A quantile reads only the newest input.
//
// Example: median 100, spread 20, k = 1.3 and 110 observed give 100 + 1.3·20 = 126, held for half the lead time.
func Decide(settings Settings, k float64, inputs []Input) Decision {
	newest := &inputs[len(inputs)-1]
	d := Decision{
		Observed: newest.Observed, Limit: newest.Limit, Events: newest.Events,
		Target: settings.Target, Window: settings.Window,
	}
	floor := 0.0
	if settings.ByHeadroom() {
		d.byHeadroom(k, inputs)
		if newest.DeadlineFloor > d.Value {
			d.DeadlineFloor, d.Value, d.Bounded = newest.DeadlineFloor, newest.DeadlineFloor, false
		}
		floor = highestObserved(inputs)
	} else {
		d.byQuantile(settings.Level(), newest.Quantiles)
	}
	d.serve(settings, floor)
	if newest.Suspect && d.Value == d.Observed {
		d.Bounded, d.Suspect = true, true
	}
	if settings.ByHeadroom() {
		d.pass(newest.DeadBand)
	}
	d.RaiseTo(settings, newest.Minimum)
	return d
}

// RaiseTo serves at least the value of the replicas that events ask for, or of maxReplicas if they are fewer. It is the last step, so
// headroom and rounding do not turn N replicas into N+1.
func (d *Decision) RaiseTo(settings Settings, minimum float64) {
	if limit := settings.MaxCapacity; limit > 0 {
		minimum = min(minimum, limit)
	}
	d.Minimum = minimum
	if value := d.decided(); minimum > *value {
		d.Raised, d.Unraised, *value = true, *value, minimum
	}
}

// Fallback is the decision when no candidate can serve: the forecast of a rule over a lookback, never below the observed
// demand.
func Fallback(settings Settings, rule Rule, forecast, observed float64, over time.Duration) Decision {
	d := Decision{
		Rule: rule, Forecast: forecast, Expected: forecast, Value: forecast, Observed: observed, Lookback: over,
	}
	if settings.Mode == Forecast {
		settings.Mode = Floor
	}
	settings.MaxCapacity = 0
	d.serve(settings, 0)
	return d
}

// HoldSteps returns the number of inputs that an objective reads: the inputs of the last half lead time, including the newest one.
func HoldSteps(lead, step time.Duration) int {
	return 1 + int(lead/(2*step))
}

func (d *Decision) byQuantile(level float64, window windowpeak.Quantiles) {
	d.Rule, d.Quantile = byQuantile, level
	d.Forecast = window.At(level)
	d.Value, d.Expected = d.Forecast, d.Forecast
	d.Bounded = d.Limit.Known && d.Value > 0 && d.Value >= d.Limit.Forecast // The quantiles already respect the limit.
}

func (d *Decision) byHeadroom(k float64, inputs []Input) {
	d.Rule, d.Headroom = byHeadroom, k
	var at int
	d.Forecast, at = highestForecast(k, inputs)
	d.Median, d.Spread = inputs[at].Peak.Median, inputs[at].Peak.Spread
	for i := range inputs {
		d.Expected = max(d.Expected, inputs[i].Peak.Median)
	}
	if at < len(inputs)-1 {
		d.HeldSteps = len(inputs)
	}
	d.Value, d.Bounded = d.Limit.CapForecast(d.Forecast)
}

// HeadroomValue is the value under a headroom multiplier: the largest forecast of the inputs, at most the newest limit, and at
// least every observed demand.
func HeadroomValue(k float64, inputs []Input) float64 {
	var value [1]float64
	HeadroomValuesTo(value[:], []float64{k}, inputs)
	return value[0]
}

// HeadroomValuesTo writes the HeadroomValue of each multiplier to dst.
func HeadroomValuesTo(dst, multipliers []float64, inputs []Input) {
	limit, floor := inputs[len(inputs)-1].Limit, highestObserved(inputs)
	for i, k := range multipliers {
		value, _ := highestForecast(k, inputs)
		value, _ = limit.CapForecast(value)
		dst[i] = max(value, floor)
	}
}

// highestForecast returns the largest median + k·spread of the inputs, and its index. If several are equal, it is the index of the newest
// input.
func highestForecast(k float64, inputs []Input) (value float64, at int) {
	value = math.Inf(-1)
	for i := range inputs {
		if forecast := inputs[i].Peak.Median + k*inputs[i].Peak.Spread; forecast >= value {
			value, at = forecast, i
		}
	}
	return value, at
}

func highestObserved(inputs []Input) float64 {
	highest := 0.0
	for i := range inputs {
		highest = max(highest, inputs[i].Observed)
	}
	return highest
}

// serve applies the mode, the floor and the limits. The value is never negative. It is at most the demand that maxReplicas replicas
// sustain, unless the observed demand is higher.
func (d *Decision) serve(settings Settings, floor float64) {
	d.Value = math.Max(d.Value, 0)
	if settings.Mode != Forecast && floor > d.Value {
		d.Value, d.Floored = floor, true
	}
	if limit := settings.MaxCapacity; limit > 0 && d.Value > limit {
		d.Capped, d.MaxCapacity, d.Uncapped, d.Floored = true, limit, d.Value, false
		d.Value = limit
	}
	switch {
	case settings.Mode == Shadow:
		d.Shadow, d.WouldServe, d.Value = true, d.Value, d.Observed
	case settings.Mode != Forecast && d.Value < d.Observed:
		d.Value, d.Floored = d.Observed, true
	}
	d.Bounded = d.Bounded && !d.Floored
}

// pass raises a value that the autoscaler would ignore, if the history or work with a deadline justifies the higher value. The result may
// be above the demand that maxReplicas replicas sustain. This is harmless, because the autoscaler stops at maxReplicas.
func (d *Decision) pass(band hpa.DeadBand) {
	value := d.decided()
	passes := band.Pass(*value)
	if _, unjustified := d.Limit.CapForecast(passes); passes != *value && (!unjustified || d.DeadlineFloor > 0) {
		d.Ignored, *value = *value, passes
	}
}

// decided returns the value to serve or, in shadow mode, the value that would be served otherwise.
func (d *Decision) decided() *float64 {
	if d.Shadow {
		return &d.WouldServe
	}
	return &d.Value
}
