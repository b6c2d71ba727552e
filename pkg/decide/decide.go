package decide

import (
	"fmt"
	"math"
	"time"
)

// Input is what is known at one step: the observed demand and the distribution of its maximum over the lead window.
type Input struct {
	// Observed demand: the mean of the last minute for rates, the last sample for gauges.
	Observed float64
	// Typical is the long-run level of the demand; it keeps a margin above 0 where the quantiles collapse.
	Typical float64
	// Window is the distribution of the maximum over the lead window, as the chosen model has it.
	Window Quantiles
	// Learnt is the shape of that maximum as it was learnt for objectives (package shape); the zero Shape where it was not.
	Learnt Shape
}

// Shape is the median of the window's maximum and the distance from there to its 95 % quantile.
type Shape struct {
	Median, Spread float64
	// Windows is how many windows of the workload it was learnt from.
	Windows int
}

// shape is what an objective's margin is added to: what was learnt or, without, the chosen model's.
func (in *Input) shape() (s Shape, learnt bool) {
	if in.Learnt.Spread > 0 {
		return in.Learnt, true
	}
	median := in.Window.At(0.5)
	return Shape{Median: median, Spread: math.Max(in.Window.At(0.95)-median, spreadFloor*in.Typical)}, false
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
	// Reason is one sentence with the numbers.
	Reason string
}

// spreadFloor is the least q95 − q50, as a share of the typical level: quantiles that collapse keep a margin.
const spreadFloor = 0.005

// Decide is the value to serve at the newest of the inputs, which ascend in time and are one step apart. An objective
// looks back over half the lead time (Recall); a quantile needs the newest input only. At least one input is needed.
//
// Worked: q50 = 100, q95 = 120, k = 1.3 and 110 observed serve 100 + 1.3·20 = 126, and go on serving at least that for
// half the lead time.
func Decide(policy Policy, inputs []Input) Decision {
	newest := inputs[len(inputs)-1]
	var d Decision
	if policy.ByOutcome() {
		d = byMargin(policy, inputs)
	} else {
		d = byQuantile(policy.Level(), newest.Window)
	}
	d.Observed = newest.Observed
	return serve(policy.Mode, d)
}

// Recall is how many inputs an objective looks at: those of the last half lead time, the newest included.
func Recall(lead, step time.Duration) int {
	return 1 + int(lead/(2*step))
}

func byQuantile(level float64, window Quantiles) Decision {
	value := window.At(level)
	return Decision{
		Value: value, Quantile: level,
		Reason: fmt.Sprintf("the %.4g quantile of the window's maximum is %.6g", level, value),
	}
}

func byMargin(policy Policy, inputs []Input) Decision {
	k := Margin(policy.Lead, policy.Late)
	d := Decision{Margin: k, Value: math.Inf(-1)}
	for i, in := range inputs {
		s, learnt := in.shape()
		value := s.Median + k*s.Spread
		if policy.Mode != Forecast {
			value = math.Max(value, in.Observed)
		}
		if value < d.Value {
			continue
		}
		d.Value = value
		held := ""
		if i < len(inputs)-1 {
			held = fmt.Sprintf(", the highest of the last %d steps", len(inputs))
		}
		from := ""
		if learnt {
			from = fmt.Sprintf(", learnt from %d windows", s.Windows)
		}
		d.Reason = fmt.Sprintf("median %.6g of the window's maximum plus k = %.3g times the spread %.6g%s%s",
			s.Median, k, s.Spread, from, held)
	}
	return d
}

// serve applies the mode and keeps the value a quantity: never negative.
func serve(mode Mode, d Decision) Decision {
	d.Value = math.Max(d.Value, 0)
	switch {
	case mode == Shadow:
		d.Reason = fmt.Sprintf("shadow: the observed %.6g is served; otherwise %.6g: %s", d.Observed, d.Value, d.Reason)
		d.Value = d.Observed
	case mode != Forecast && d.Value < d.Observed:
		d.Reason = fmt.Sprintf("the observed %.6g is served, above the forecast: %s", d.Observed, d.Reason)
		d.Value, d.Floored = d.Observed, true
	}
	return d
}
