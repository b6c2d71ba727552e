package arima

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/optimise"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// ARIMA is an autoregressive integrated moving average of given order.
type ARIMA struct {
	// P, D and Q are the numbers of autoregressive terms, of differences (at most 2) and of moving-average terms.
	P, D, Q int
	// Constant gives the differenced series a mean: a level to which the series returns where D is 0, a drift where
	// D is 1. Demand that never falls to a mean of 0 by itself wants it where D is 0.
	Constant bool
	// Fixed are the coefficients to use; nil estimates them. The variance is estimated in any case.
	Fixed *Coefficients
}

// Name is the model with its order: "ARIMA(1,1,1)".
func (a ARIMA) Name() string { return a.order().String() }

func (a ARIMA) order() Order { return Order{P: a.P, D: a.D, Q: a.Q, Constant: a.Constant} }

// Fit estimates the coefficients by exact maximum likelihood. It wants p + q + d + 1 observations, one more with a
// constant, and d of them in a row.
func (a ARIMA) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := a.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// Estimate is Fit with the concrete type, which shows the coefficients and the likelihood.
func (a ARIMA) Estimate(s forecast.Series) (*Fitted, error) {
	order := a.order()
	if err := order.validate(); err != nil {
		return nil, err
	}
	if a.Fixed != nil {
		if err := a.Fixed.validate(order); err != nil {
			return nil, err
		}
	}
	pr, err := prepare(s, order)
	if err != nil {
		return nil, err
	}
	e := newEvaluator(pr)
	switch {
	case a.Fixed != nil:
		return e.fitFixed(s, *a.Fixed)
	case pr.flat:
		return e.fitFlat(s)
	default:
		return e.fit(s, newSeed(pr).guess(a.P, a.Q))
	}
}

// exact is how the likelihood is climbed: to a thousandth of a standard error on a hundred observations.
func exact() optimise.QuasiNewton {
	return optimise.QuasiNewton{Gradient: 1e-6, Decrease: 1e-10, Iterations: 100}
}

// fit climbs the likelihood from the best of the guess, of its autoregressive half and of white noise.
func (e *evaluator) fit(s forecast.Series, guess []float64) (*Fitted, error) {
	half := append([]float64(nil), guess...)
	clear(half[e.order.P:])
	best, value := guess, math.Inf(1)
	for _, x := range [][]float64{guess, half, make([]float64, len(guess))} {
		if v := e.objective(x); v < value {
			best, value = x, v
		}
	}
	if math.IsInf(value, 1) {
		return nil, fmt.Errorf("%s: no start with a finite likelihood: %w", e.order, forecast.ErrNoConvergence)
	}
	found := best
	if len(best) > 0 {
		found = exact().Minimise(e.objective, best).X
	}
	e.setPartial(e.squash(found))
	m := e.pass()
	return e.finish(s, m, e.best(m))
}

// fitFixed takes the coefficients as they are given and estimates the variance.
func (e *evaluator) fitFixed(s forecast.Series, c Coefficients) (*Fitted, error) {
	if !e.setCoefficients(c.AR, c.MA) {
		return nil, fmt.Errorf("%s: the fixed AR coefficients %v are explosive, or too near to a unit root: %w",
			e.order, c.AR, forecast.ErrParameter)
	}
	constant := 0.0
	if e.order.Constant {
		constant = c.Constant
		if e.order.D == 0 {
			constant -= e.location
		}
		constant = constant/e.scale - e.level
	}
	return e.finish(s, e.pass(), constant)
}

// fitFlat is the fit to a series whose differences are all alike: they go on, without an error.
func (e *evaluator) fitFlat(s forecast.Series) (*Fitted, error) { return e.finish(s, moment{}, 0) }

// finish runs the filter to the end of the series once more, with the constant in place at its distance from the level,
// and keeps what a forecast needs.
func (e *evaluator) finish(s forecast.Series, m moment, distance float64) (*Fitted, error) {
	n := float64(e.used)
	variance := m.deviance(distance) / n
	if !units.Observed(variance) {
		return nil, fmt.Errorf("%s: the errors cannot be computed: %w", e.order, forecast.ErrNoConvergence)
	}
	f := &Fitted{
		order: e.order, filter: e.filter, state: e.state, ahead: e.unit,
		constant: e.level + distance, deviation: math.Sqrt(variance), location: e.location, scale: e.scale,
		used: e.used, next: s.End(), step: s.Step,
	}
	f.logLikelihood = -0.5*(n*(math.Log(2*math.Pi*variance)+1)+m.logs) - n*math.Log(e.scale)
	e.begin()
	for _, y := range e.values[e.first:] {
		if math.IsNaN(y) {
			f.filter.miss(f.state, f.constant)
		} else {
			f.filter.take(f.state, y, f.constant)
		}
	}
	for _, v := range f.state {
		if !units.Observed(v) {
			return nil, fmt.Errorf("%s: the state has lost its digits: %w", e.order, forecast.ErrNoConvergence)
		}
	}
	return f, nil
}
