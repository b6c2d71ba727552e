package arima

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Fitted is an ARIMA with its coefficients, and the state of its filter after the last observation.
type Fitted struct {
	order  Order
	filter *filter
	// state is the filter's mean for the coming step; ahead is room for forecasting from it.
	state, ahead []float64
	// constant and deviation are μ and σ in scaled units: a value y of the series is (y − location)/scale there.
	constant, deviation float64
	location, scale     float64
	logLikelihood       float64
	used                int
	next                time.Time
	step                time.Duration
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150 in its own units or in deviations of
// the series, counts as missing.
func (f *Fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	scaled := (y - f.location) / f.scale
	if !units.Observed(y) || !units.Observed(scaled) {
		f.filter.miss(f.state, f.constant)
		return
	}
	f.filter.take(f.state, scaled, f.constant)
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst.
func (f *Fitted) PointsTo(dst []float64) {
	copy(f.ahead, f.state)
	for i := range dst {
		value := f.filter.expected(f.ahead) + f.constant
		dst[i] = f.location + f.scale*value
		f.filter.shift(f.ahead, value)
	}
}

// Forecast is the forecast of the coming h steps. The standard errors sum the innovations up to each step and what gaps
// at the origin leave unknown.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	ahead := newFilter(f.filter.process)
	if f.filter.steady {
		ahead.thaw()
	} else {
		copy(ahead.cov, f.filter.cov)
	}
	for i := range out.StdErr {
		ahead.weigh()
		out.StdErr[i] = f.scale * f.deviation * math.Sqrt(ahead.variance)
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
	c := Coefficients{
		AR: append([]float64(nil), f.filter.ar[:f.order.P]...),
		MA: append([]float64(nil), f.filter.ma[1:1+f.order.Q]...),
	}
	if f.order.Constant {
		c.Constant = f.scale * f.constant
		if f.order.D == 0 {
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

// LogLikelihood is the exact Gaussian log-likelihood of the series given its first D observations. It is +Inf where the
// model reproduces the series without an error.
func (f *Fitted) LogLikelihood() float64 { return f.logLikelihood }

// AICc is Akaike's information criterion, corrected for short series (Hurvich & Tsai 1989). It compares models of the
// same number of differences only, as others have other observations. It is +Inf where the series is too short for it.
func (f *Fitted) AICc() float64 { return aicc(f.logLikelihood, f.used, f.order.parameters()+1) }

// aicc is the criterion for n observations and k parameters.
func aicc(logLikelihood float64, n, k int) float64 {
	if n <= k+1 {
		return math.Inf(1)
	}
	return -2*logLikelihood + 2*float64(k) + 2*float64(k*(k+1))/float64(n-k-1)
}
