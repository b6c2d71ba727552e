package quantreg

import (
	"fmt"

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
	// leastJitter is added to the diagonal, as a share of it, where the regressors are collinear to the last digit; it grows
	// until the equations can be solved.
	leastJitter = 1e-12
	mostJitter  = 1e-3
)

// solve writes the solution to dst.
func (e *equations) solve(dst Coefficients) error {
	width := len(dst)
	symmetric := mat.NewSymDense(width, nil)
	var factor mat.Cholesky
	solution := mat.NewVecDense(width, dst)
	for jitter := leastJitter; jitter <= mostJitter; jitter *= 10 {
		for i := range width {
			for j := range i {
				symmetric.SetSym(i, j, e.moments[i*width+j])
			}
			diagonal := e.moments[i*width+i] * (1 + jitter)
			if diagonal == 0 {
				diagonal = 1 // A regressor that is always 0: so is its coefficient.
			}
			symmetric.SetSym(i, i, diagonal)
		}
		// A condition error still comes with a solution; a ridge of jitter is what makes it one to use.
		if factor.Factorize(symmetric) && factor.Cond() < 1/leastJitter {
			return factor.SolveVecTo(solution, mat.NewVecDense(width, e.right))
		}
	}
	return fmt.Errorf("the %d normal equations are singular: %w", width, forecast.ErrNoConvergence)
}
