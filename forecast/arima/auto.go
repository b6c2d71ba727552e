package arima

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/optimise"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

const (
	// finalists is how many of the screened orders are compared by exact likelihood.
	finalists = 4
	// overtime is how many are, where each of the finalists has a root on the circle.
	overtime = 8
	// screened is how many of the newest values orders are screened on: enough to tell them apart.
	screened = 4000
	// margin is how far from the unit circle the roots of a chosen model must lie (Hyndman & Khandakar 2008).
	margin = 1.01
)

// Auto is an ARIMA whose order is chosen when it is fitted.
type Auto struct {
	// MaxP and MaxQ bound the autoregressive and moving-average terms that are tried. 0 means 3.
	MaxP, MaxQ int
	// MaxD bounds the differences, at most 2. 0 means 2; fewer than 0 means none.
	MaxD int
}

// Name says that the order is not chosen yet; that of a Fitted is.
func (Auto) Name() string { return "Auto-ARIMA" }

// Fit chooses the order and estimates its coefficients. It wants three observations.
func (a Auto) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := a.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// Estimate is Fit with the concrete type, which shows the order that was chosen.
func (a Auto) Estimate(s forecast.Series) (*Fitted, error) {
	bounds, err := a.filled()
	if err != nil {
		return nil, err
	}
	if err := units.Check(s, 3); err != nil {
		return nil, fmt.Errorf("auto-ARIMA: %w", err)
	}
	recent := s
	if n := s.Len(); n > screened && s.Slice(n-screened, n).Observed() > screened/2 {
		recent = s.Slice(n-screened, n)
	}
	for d := differencesFor(scaled(s.Values), bounds.MaxD); ; d-- {
		fitted, err := choose(s, bounds.screen(recent, d))
		if err == nil || d == 0 || !errors.Is(err, forecast.ErrTooShort) {
			return fitted, err
		}
	}
}

// filled puts the defaults in place.
func (a Auto) filled() (Auto, error) {
	if a.MaxP < 0 || a.MaxP > maxLag || a.MaxQ < 0 || a.MaxQ > maxLag || a.MaxD > maxDifference {
		return a, fmt.Errorf("auto-ARIMA: p to %d, q to %d, d to %d; want p and q from 0 to %d, d at most %d: %w",
			a.MaxP, a.MaxQ, a.MaxD, maxLag, maxDifference, forecast.ErrParameter)
	}
	return Auto{
		MaxP: cmp.Or(a.MaxP, 3), MaxQ: cmp.Or(a.MaxQ, 3), MaxD: max(cmp.Or(a.MaxD, maxDifference), 0),
	}, nil
}

func scaled(values []float64) []float64 {
	scale := units.Scale(values)
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / scale
	}
	return out
}

// candidate is an order with the point where conditional least squares left it, and its criterion there.
type candidate struct {
	order     Order
	x         []float64
	criterion float64
}

// screen ranks all orders of d differences by conditional least squares, best first; ties go to fewer parameters, then
// to fewer autoregressive terms.
func (a Auto) screen(s forecast.Series, d int) []candidate {
	var out []candidate
	for _, constant := range constants(d) {
		pr, err := prepare(s, Order{D: d, Constant: constant}, nil)
		if err != nil {
			continue
		}
		first := newSeed(pr)
		for p := range a.MaxP + 1 {
			for q := range a.MaxQ + 1 {
				if c, ok := screenOne(pr, first, p, q); ok {
					out = append(out, c)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(x, y candidate) int {
		return cmp.Or(
			cmp.Compare(x.criterion, y.criterion),
			cmp.Compare(x.order.parameters(), y.order.parameters()),
			cmp.Compare(x.order.P, y.order.P),
		)
	})
	return out
}

// constants says with which constants a number of differences is tried.
func constants(d int) []bool {
	if d == maxDifference {
		return []bool{false}
	}
	return []bool{false, true}
}

// screenOne scores one order on a prepared series. False says that the series is too short for it.
func screenOne(pr *problem, first *seed, p, q int) (candidate, bool) {
	own := *pr
	own.order.P, own.order.Q = p, q
	n, k := own.used, own.order.parameters()+1
	if n <= k+1 && k > 1 {
		return candidate{}, false
	}
	if own.flat {
		return candidate{order: own.order, criterion: math.Inf(-1)}, p+q == 0
	}
	e := newEvaluator(&own)
	x := e.descend(e.conditional, first.guess(own.order), optimise.LeastSquares{
		Decrease: screenDecrease, Iterations: screenIterations,
	}).X
	e.at(x)
	value := e.conditional().objective()
	logLikelihood := -float64(n) * (value + math.Log(own.scale))
	return candidate{order: own.order, x: x, criterion: aicc(logLikelihood, n, k)}, true
}

// choose compares the best of the screened orders by exact likelihood. An order with a root on the circle is passed
// over as long as there is another.
func choose(s forecast.Series, ranked []candidate) (*Fitted, error) {
	var best, spare *Fitted
	var failure error
	for i, c := range ranked {
		if i >= finalists && best != nil || i >= overtime && spare != nil {
			break
		}
		fitted, err := c.fit(s)
		switch {
		case err != nil:
			failure = err
		case !fitted.inside(margin):
			spare = cmp.Or(spare, fitted)
		case best == nil || fitted.AICc() < best.AICc():
			best = fitted
		}
	}
	if chosen := cmp.Or(best, spare); chosen != nil {
		return chosen, nil
	}
	if failure == nil {
		failure = fmt.Errorf("%d observations: %w", s.Observed(), forecast.ErrTooShort)
	}
	return nil, fmt.Errorf("auto-ARIMA: %w", failure)
}

// fit is the exact fit of the candidate, climbing from where the screening left it.
func (c candidate) fit(s forecast.Series) (*Fitted, error) {
	pr, err := prepare(s, c.order, nil)
	if err != nil {
		return nil, err
	}
	e := newEvaluator(pr)
	switch {
	case pr.flat:
		return e.fitFlat(s)
	case c.x == nil:
		return e.fit(s, make([]float64, c.order.P+c.order.Q))
	default:
		return e.fit(s, c.x)
	}
}

// inside says whether all roots of both polynomials lie outside the circle of the radius.
func (f *Fitted) inside(radius float64) bool {
	c := f.Coefficients()
	for i := range c.MA {
		c.MA[i] = -c.MA[i]
	}
	return stationary(c.AR, radius) && stationary(c.MA, radius)
}
