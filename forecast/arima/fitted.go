package arima

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Fitted is an ARIMA with its coefficients, and the state of its filter after the last observation.
type Fitted struct {
	order  Order
	filter *filter
	// constant and deviation, which is σ, are in scaled units: a value y of the series is (y − location)/scale there.
	constant        float64
	deviation       float64
	location, scale float64
	logLikelihood   float64
	used            int
	next            time.Time
	step            time.Duration
	steps           int
	ahead           []float64
	value, surprise []float64
}

// regressed is the constant's share in a step, in scaled units.
func (f *Fitted) regressed(step int) float64 {
	if !f.order.Constant {
		return 0
	}
	return f.order.constantAt(step) * f.constant
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150 in its own units or in deviations of
// the series, counts as missing.
func (f *Fitted) Update(y float64) {
	scaled := (y - f.location) / f.scale
	if !numeric.Observed(y) || !numeric.Observed(scaled) {
		scaled = math.NaN()
	}
	f.take(scaled - f.regressed(f.steps+1))
	f.next = f.next.Add(f.step)
	f.steps++
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst.
func (f *Fitted) PointsTo(dst []float64) {
	copy(f.ahead, f.filter.means[0])
	f.filter.coast(f.ahead, dst)
	for i, v := range dst {
		dst[i] = f.location + f.scale*(v+f.regressed(f.steps+1+i))
	}
}

// Forecast is the forecast of the coming h steps. The standard errors sum the innovations up to each step and what gaps
// at the origin leave unknown; those of the coefficients are left out, as is usual.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{Start: f.next, Step: f.step, Point: make([]float64, max(h, 0))}
	f.PointsTo(out.Point)
	out.StdErr = f.filter.variances(max(h, 0))
	for i, v := range out.StdErr {
		out.StdErr[i] = f.scale * f.deviation * math.Sqrt(v)
	}
	return out
}

// variances are those of the coming h values. A value that is still to come is missing now: each adds its innovation's
// effect on those after it.
func (f *filter) variances(h int) []float64 {
	out := make([]float64, h)
	state, response := make([]float64, f.size), make([]float64, h)
	for _, column := range f.columns[:f.active] {
		copy(state, column)
		f.coast(state, response)
		for i, v := range response {
			out[i] += v * v
		}
	}
	ahead := f.gain.clone()
	for i := range out {
		clear(state)
		ahead.effect(state)
		rest := response[:h-1-i]
		f.coast(state, rest)
		if ahead.steady {
			// From here on every innovation has the same effect.
			sum := 1.0
			for j := range rest {
				out[i+j] += sum
				sum += rest[j] * rest[j]
			}
			out[h-1] += sum
			return out
		}
		out[i] += ahead.variance
		for j, v := range rest {
			out[i+1+j] += v * v
		}
		ahead.advance()
	}
	return out
}

// Name is that of the model with the order that was chosen: "ARIMA(1,1,1)".
func (f *Fitted) Name() string { return f.order.String() }

// Order is the structure of the model, as it was given or chosen.
func (f *Fitted) Order() Order { return f.order }

// Coefficients are the parameters as they were fitted or fixed. The slices are the caller's.
func (f *Fitted) Coefficients() Coefficients {
	own := f.filter.factors
	c := Coefficients{
		AR: slices.Clone(own.AR), MA: slices.Clone(own.MA), SAR: slices.Clone(own.SAR), SMA: slices.Clone(own.SMA),
	}
	if f.order.Constant {
		c.Constant = f.constant * f.scale
		if f.order.differences() == 0 {
			c.Constant += f.location
		}
	}
	return c
}

// Sigma2 is the maximum-likelihood estimate of the innovations' variance.
func (f *Fitted) Sigma2() float64 {
	deviation := f.scale * f.deviation
	return deviation * deviation
}

// LogLikelihood is the exact Gaussian log-likelihood of the series given those of its first observations that the
// differences use up. It is +Inf where the model reproduces the series without an error.
func (f *Fitted) LogLikelihood() float64 { return f.logLikelihood }

// AICc is Akaike's information criterion, corrected for short series (Hurvich & Tsai 1989). It compares models of the
// same differences only, as others have other observations. It is +Inf where the series is too short for it.
func (f *Fitted) AICc() float64 {
	return aicc(f.logLikelihood, f.used, f.order.parameters()+1)
}

// aicc is the criterion for n observations and k parameters.
func aicc(logLikelihood float64, n, k int) float64 {
	if n <= k+1 {
		return math.Inf(1)
	}
	return -2*logLikelihood + 2*float64(k) + 2*float64(k*(k+1))/float64(n-k-1)
}

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
			return nil, fmt.Errorf("%s: the state has lost its numerical precision: %w", e.order,
				forecast.ErrNoConvergence)
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
