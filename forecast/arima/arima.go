package arima

import (
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// ARIMA is a seasonal autoregressive integrated moving average with a given order.
type ARIMA struct {
	// P, D and Q are the numbers of autoregressive terms, of differences (at most 2) and of moving-average terms.
	P, D, Q int
	// Seasonal are the terms and differences that act a season apart; the zero value means none.
	Seasonal Seasonal
	// Constant gives the differenced series a mean. Without differences, this is a level to which the series returns. With one difference
	// of either kind, it is a drift. Demand without differences needs a Constant, because it does not return to a mean of 0.
	Constant bool
	// Fixed are the coefficients to use; nil estimates them. The variance is always estimated.
	Fixed *Coefficients
}

// Name returns the name of the model with its order: "ARIMA(1,1,1)(0,1,1)[24]".
func (a ARIMA) Name() string { return a.order().String() }

func (a ARIMA) order() Order {
	return Order{P: a.P, D: a.D, Q: a.Q, Seasonal: a.Seasonal, Constant: a.Constant}.canonical()
}

// Fit estimates the coefficients by exact maximum likelihood. It needs more observations than the differences use up (d + mD) plus the
// number of coefficients.
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
		return e.fit(s, e.approach(newSeed(pr).guess(order)))
	}
}

const (
	// screenDecrease and screenIterations end a search that ranks a model or finds a starting point.
	screenDecrease   = 1e-5
	screenIterations = 12
	// exactDecrease ends the search for the maximum likelihood. With a thousand observations, the log-likelihood is then accurate to 5e-7.
	// contestDecrease ends the search while orders are compared, with an accuracy of 5e-4.
	exactDecrease   = 1e-9
	contestDecrease = 1e-6
	exactIterations = 60
)

// approach returns the point at which a search by conditional least squares ends. The search starts from the best of the guess, its
// autoregressive half and white noise.
func (e *evaluator) approach(guess []float64) []float64 {
	half := slices.Clone(guess)
	clear(half[e.order.P+e.order.Seasonal.P:])
	best, value := guess, math.Inf(1)
	for _, x := range [][]float64{guess, half, make([]float64, len(guess))} {
		if !e.at(x) {
			continue
		}
		if v := e.conditional().objective(); v < value {
			best, value = x, v
		}
	}
	if math.IsInf(value, 1) {
		return guess
	}
	return e.descend(e.conditional, best, numeric.LeastSquares{
		Decrease: screenDecrease, Iterations: screenIterations,
	}).X
}

// descend searches from x for the point with the smallest residuals of a likelihood.
func (e *evaluator) descend(likelihood func() outcome, x []float64, search numeric.LeastSquares) numeric.Result {
	if len(x) == 0 {
		return numeric.Result{X: x}
	}
	return search.Minimise(e.residuals(likelihood), x, len(e.white[0]))
}

// fit maximizes the likelihood from a starting point, and keeps what a forecast needs.
func (e *evaluator) fit(s forecast.Series, start []float64) (*Fitted, error) {
	x, err := e.climb(start, exactDecrease)
	if err != nil {
		return nil, err
	}
	return e.settle(s, e.polish(x))
}

// climb increases the likelihood by least squares, from a starting point or, if that is better, from white noise. This is fast if the
// likelihood is almost quadratic. It ends when a step reduces the sum of squares by less than the share decrease.
func (e *evaluator) climb(start []float64, decrease float64) ([]float64, error) {
	if !e.searchable() {
		return start, nil
	}
	best, value := start, math.Inf(1)
	for _, x := range [][]float64{start, make([]float64, len(start))} {
		if v := e.objective(x); v < value {
			best, value = x, v
		}
	}
	if math.IsInf(value, 1) {
		return nil, fmt.Errorf("%s: no start with a finite likelihood: %w", e.order, forecast.ErrNoConvergence)
	}
	return e.descend(e.exact, best, numeric.LeastSquares{Decrease: decrease, Iterations: exactIterations}).X, nil
}

// polish completes a climb with a general search, which ends immediately if the climb has reached the maximum.
func (e *evaluator) polish(x []float64) []float64 {
	if len(x) == 0 || !e.searchable() {
		return x
	}
	return numeric.QuasiNewton{Gradient: 1e-5, Decrease: 1e-10, Iterations: 100}.Minimise(e.objective, x).X
}

// settle keeps what a forecast needs, at the point at which a search ended.
func (e *evaluator) settle(s forecast.Series, x []float64) (*Fitted, error) {
	e.widen()
	o := e.exactAt(x)
	return e.finish(s, o, e.regression.constant(e.distance))
}

// fitFixed uses the given coefficients and estimates the variance.
func (e *evaluator) fitFixed(s forecast.Series, c Coefficients) (*Fitted, error) {
	if !e.setCoefficients(c) {
		return nil, fmt.Errorf("%s: the fixed AR coefficients %v and %v are explosive, or too near to a unit root: %w",
			e.order, c.AR, c.SAR, forecast.ErrParameter)
	}
	constant := c.Constant
	if e.order.differences() == 0 {
		constant -= e.location
	}
	constant /= e.scale
	e.widen()
	o := e.exact()
	o.squares = e.squares(e.regression.distance(constant), o.n)
	return e.finish(s, o, constant)
}

// fitFlat returns the fit to a series whose differences are all equal. The forecast continues them, without an error.
func (e *evaluator) fitFlat(s forecast.Series) (*Fitted, error) {
	e.at(e.partials)
	return e.finish(s, outcome{n: e.used}, e.regression.constant(e.distance))
}
