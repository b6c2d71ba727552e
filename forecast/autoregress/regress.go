package autoregress

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/forewarm/forewarm/forecast"
)

// regress estimates the weights of the lags, the constant last, by penalised least squares on the normal equations
// (X'WX + λI)b = X'Wy, and the deviation of the one-step errors. Targets are the observed values z, regressors the
// bridged ones.
func (m Ridge) regress(z, filled []float64) (weights []float64, deviation float64, err error) {
	p := len(m.Lags) + 1
	moments, right := make([]float64, p*p), make([]float64, p)
	row := make([]float64, p)
	total := 0.0
	for t := m.Lags[p-2]; t < len(z); t++ {
		y := z[t]
		if math.IsNaN(y) {
			continue
		}
		m.regressors(row, filled, t)
		w := m.weight(len(z) - 1 - t)
		total += w
		for i, x := range row {
			x *= w
			right[i] += x * y
			line := moments[i*p : i*p+i+1] // the lower triangle
			for j := range line {
				line[j] += x * row[j]
			}
		}
	}
	penalty := m.Penalty
	if penalty == 0 {
		penalty = defaultPenalty
	}
	symmetric := mat.NewSymDense(p, nil)
	for i := range p {
		for j := range i {
			symmetric.SetSym(i, j, moments[i*p+j])
		}
		symmetric.SetSym(i, i, moments[i*p+i]+penalty*total)
	}
	var factor mat.Cholesky
	var solution mat.VecDense
	if !factor.Factorize(symmetric) || factor.SolveVecTo(&solution, mat.NewVecDense(p, right)) != nil {
		return nil, 0, fmt.Errorf("the %d normal equations are singular: %w", p, forecast.ErrNoConvergence)
	}
	weights = solution.RawVector().Data
	return weights, m.deviation(z, filled, weights), nil
}

// regressors writes the values at the lags before step t, and 1 for the constant.
func (m Ridge) regressors(row, filled []float64, t int) {
	for j, lag := range m.Lags {
		row[j] = filled[t-lag]
	}
	row[len(m.Lags)] = 1
}

// weight of an observation of an age in steps.
func (m Ridge) weight(age int) float64 {
	if m.HalfLife == 0 {
		return 1
	}
	return math.Exp2(-float64(age) / m.HalfLife)
}

// deviation of the one-step errors, with the degrees of freedom that the weights took.
func (m Ridge) deviation(z, filled, weights []float64) float64 {
	row := make([]float64, len(weights))
	squares, n := 0.0, 0
	for t := m.Lags[len(m.Lags)-1]; t < len(z); t++ {
		if math.IsNaN(z[t]) {
			continue
		}
		m.regressors(row, filled, t)
		e := z[t]
		for j, w := range weights {
			e -= w * row[j]
		}
		squares += e * e
		n++
	}
	return math.Sqrt(squares / float64(max(n-len(weights), 1)))
}
