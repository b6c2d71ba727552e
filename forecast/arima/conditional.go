package arima

import (
	"math"

	"github.com/forewarm/forewarm/forecast/internal/optimise"
)

// screening is how the conditional sum of squares is minimised: well enough to rank orders.
func screening() optimise.QuasiNewton {
	return optimise.QuasiNewton{Gradient: 1e-4, Decrease: 1e-6, Iterations: 12}
}

// conditional is the objective of conditional least squares (Box & Jenkins 1976): the filter starts in its steady state
// at 0 and stays there, a gap taking the value that was expected. It is what objective comes to on a long series, at a
// fraction of the cost.
func (e *evaluator) conditional(x []float64) float64 {
	if !e.setPartial(e.squash(x)) {
		return math.Inf(1)
	}
	clear(e.state)
	clear(e.unit)
	var sum moment
	for t := e.first; t < len(e.differenced); {
		if math.IsNaN(e.differenced[t]) {
			e.coast()
			t++
			continue
		}
		t = e.glideAll(t, &sum)
	}
	return 0.5 * math.Log(e.varianceOf(sum))
}

// coast moves the ARMA part of the states over a step that had the expected value.
func (e *evaluator) coast() {
	last := e.r - 1
	first, unit := e.state[0], e.unit[0]
	for i := range last {
		e.state[i] = e.ar[i]*first + e.state[i+1]
		e.unit[i] = e.ar[i]*unit + e.unit[i+1]
	}
	e.state[last], e.unit[last] = e.ar[last]*first, e.ar[last]*unit
}
