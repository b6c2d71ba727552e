package quantreg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/forewarm/forewarm/forecast"
)

// equations are the normal equations of a weighted regression: the lower triangle of the moments of the regressors,
// line by line, and those of regressors and target.
type equations struct {
	moments, right []float64
}

func newEquations(width int) *equations {
	return &equations{moments: make([]float64, width*width), right: make([]float64, width)}
}

func (e *equations) clear() {
	clear(e.moments)
	clear(e.right)
}

// add takes a row with its weight.
func (e *equations) add(x []float64, y, weight float64) {
	width := len(e.right)
	for i, v := range x {
		v *= weight
		e.right[i] += v * y
		line := e.moments[i*width : i*width+i+1]
		for j := range line {
			line[j] += v * x[j]
		}
	}
}

// penalise draws the coefficients to the means of the prior, or to 0: each by a share of its regressor's own moment, so
// that the unit of a regressor does not matter.
func (e *equations) penalise(share float64, prior *Prior) {
	width := len(e.right)
	for i := range e.right {
		add := share * e.moments[i*width+i]
		e.moments[i*width+i] += add
		e.right[i] += add * prior.mean(i)
	}
}

const (
	// minJitter is added to the diagonal, as a share of it, where the regressors are collinear to the last digit; it grows
	// until the equations can be solved.
	minJitter = 1e-12
	maxJitter = 1e-3
)

// solve writes the solution to dst. The moments are brought to a diagonal of ones first, which makes nothing of the units
// that the regressors are in.
func (e *equations) solve(dst Coefficients) error {
	width := len(dst)
	units, right := e.units(), mat.NewVecDense(width, nil)
	for i := range units {
		right.SetVec(i, e.right[i]*units[i])
	}
	symmetric := mat.NewSymDense(width, nil)
	var factor mat.Cholesky
	var solution mat.VecDense
	for jitter := minJitter; jitter <= maxJitter; jitter *= 10 {
		for i := range width {
			for j := range i {
				symmetric.SetSym(i, j, e.moments[i*width+j]*units[i]*units[j])
			}
			symmetric.SetSym(i, i, 1+jitter)
		}
		if !factor.Factorize(symmetric) || factor.Cond() > 1/minJitter {
			continue
		}
		if err := factor.SolveVecTo(&solution, right); err != nil {
			return fmt.Errorf("the %d normal equations: %w: %w", width, err, forecast.ErrNoConvergence)
		}
		for i := range dst {
			dst[i] = solution.AtVec(i) * units[i]
		}
		return nil
	}
	return fmt.Errorf("the %d normal equations are singular: %w", width, forecast.ErrNoConvergence)
}

// units are what the regressors are multiplied by to have moments of 1; 0 for one that is always 0, whose coefficient is.
func (e *equations) units() []float64 {
	out := make([]float64, len(e.right))
	for i := range out {
		if m := e.moments[i*len(out)+i]; m > 0 {
			out[i] = 1 / math.Sqrt(m)
		}
	}
	return out
}

// Rows are observations: row i has the regressors X[i·width … (i+1)·width), with width = len(X)/len(Y), and the target
// Y[i]. There is no intercept but a column of ones, if one is wanted.
type Rows struct {
	X, Y []float64
	// Weights say how much a row counts, 0 or more; nil means 1 each.
	Weights []float64
}

// Width is the number of regressors, 0 without rows.
func (r Rows) Width() int {
	if len(r.Y) == 0 {
		return 0
	}
	return len(r.X) / len(r.Y)
}

// row is the regressors of row i.
func (r Rows) row(i, width int) []float64 { return r.X[i*width : (i+1)*width : (i+1)*width] }

func (r Rows) weight(i int) float64 {
	if r.Weights == nil {
		return 1
	}
	return r.Weights[i]
}

// check reports rows of different lengths (forecast.ErrParameter), no rows that count (forecast.ErrTooShort) or numbers
// that are none (forecast.ErrNotFinite).
func (r Rows) check() error {
	width := r.Width()
	switch {
	case len(r.Y) == 0:
		return fmt.Errorf("no rows: %w", forecast.ErrTooShort)
	case width == 0 || width*len(r.Y) != len(r.X) || r.Weights != nil && len(r.Weights) != len(r.Y):
		return fmt.Errorf(
			"%d targets, %d regressors, %d weights: expected the same number of regressors in each row, and one "+
				"weight per row: %w",
			len(r.Y),
			len(r.X),
			len(r.Weights),
			forecast.ErrParameter,
		)
	}
	total := 0.0
	for i := range r.Y {
		w := r.weight(i)
		if !(w >= 0 && w <= maxMagnitude) {
			return fmt.Errorf("weight %d is %v, expected 0 to %g: %w", i, w, maxMagnitude, forecast.ErrParameter)
		}
		total += w
	}
	for _, numbers := range [][]float64{r.X, r.Y} {
		for i, v := range numbers {
			if !(math.Abs(v) <= maxMagnitude) {
				return fmt.Errorf("number %d is %v, expected at most %g: %w", i, v, maxMagnitude, forecast.ErrNotFinite)
			}
		}
	}
	if total == 0 {
		return fmt.Errorf("all weights are 0: %w", forecast.ErrTooShort)
	}
	return nil
}

// maxMagnitude of a number: sums of products of two of them, weighted, stay finite.
const maxMagnitude = 1e60

// meanMagnitude is the weighted mean of |Y|.
func (r Rows) meanMagnitude() float64 {
	sum, total := 0.0, 0.0
	for i, y := range r.Y {
		w := r.weight(i)
		sum += w * math.Abs(y)
		total += w
	}
	return sum / total
}
