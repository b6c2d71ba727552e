package arima

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// squares is the sum of the squared innovations with the regression at a distance from the first.
func (e *evaluator) squares(distance float64, n int) float64 {
	rest := append([]float64(nil), e.white[0][:n]...)
	e.subtract(rest, distance)
	return floats.Dot(rest, rest)
}

// subtract takes the regression at a distance from the first out of innovations of the series.
func (e *evaluator) subtract(innovations []float64, distance float64) {
	if len(e.white) > 1 {
		floats.AddScaled(innovations, -distance, e.white[1][:len(innovations)])
	}
}

// finish runs the filter to the end of the series once more, with the regression taken out, and keeps what a forecast
// needs.
func (e *evaluator) finish(s forecast.Series, o outcome, constant float64) (*Fitted, error) {
	variance := o.squares / float64(o.n)
	if !numeric.Observed(variance) || o.n < 1 {
		return nil, fmt.Errorf("%s: the errors cannot be computed: %w", e.order, forecast.ErrNoConvergence)
	}
	f := &Fitted{
		order: e.order, constant: constant,
		deviation: math.Sqrt(variance), location: e.location, scale: e.scale,
		used: o.n, next: s.End(), step: s.Step, steps: s.Len(),
		ahead: make([]float64, e.size),
		value: make([]float64, 1), surprise: make([]float64, 1),
	}
	f.logLikelihood = -0.5*(float64(o.n)*(math.Log(2*math.Pi*variance)+1)+o.logs) - float64(o.n)*math.Log(e.scale)
	f.run(e.process, s)
	for _, v := range f.filter.means[0] {
		if !numeric.Observed(v) {
			return nil, fmt.Errorf("%s: the state has lost its digits: %w", e.order, forecast.ErrNoConvergence)
		}
	}
	return f, nil
}

// run filters the series from its first observation on.
func (f *Fitted) run(p *process, s forecast.Series) {
	first := numeric.First(s.Values)
	values := make([]float64, s.Len()-first)
	low, high := math.Inf(1), math.Inf(-1)
	for i := range values {
		t := first + i
		values[i] = (s.Values[t]-f.location)/f.scale - f.regressed(t+1)
		if !math.IsNaN(values[i]) {
			low, high = math.Min(low, values[i]), math.Max(high, values[i])
		}
	}
	begin := p.delta.degree()
	f.filter = newFilter(p, 1, most)
	f.filter.start([][]float64{filled(values, p.period)}, func(t int) bool { return math.IsNaN(values[t]) })
	for t := begin; t < len(values); t++ {
		f.take(values[t])
	}
	f.filter.confine(high - low)
}

// take moves the filter on by a value in scaled units, the regression taken out.
func (f *Fitted) take(value float64) {
	if math.IsNaN(value) {
		f.filter.miss()
		return
	}
	f.value[0] = value
	f.filter.take(f.value, f.surprise)
}

// confine brings what is still unknown of the start within a deviation: what was never seen is as uncertain as the series
// is wide.
func (f *filter) confine(deviation float64) {
	for _, column := range f.columns[:f.active] {
		if largest := floats.Norm(column, math.Inf(1)); largest > wide/10 {
			floats.Scale(deviation/largest, column)
		}
	}
}
