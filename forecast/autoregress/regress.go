package autoregress

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/forewarm/forewarm/forecast"
)

const (
	// passes is how often the weights are estimated again with large errors held down, and tuning from which multiple of
	// the robust deviation on errors count as large.
	passes = 2
	tuning = 1.0
)

// regress estimates the weights of the lags, the constant last, and the deviation of the one-step errors. It is Huber's
// regression by reweighting (Huber 1964; Holland & Welsch 1977) with so low a threshold that it is near the least
// absolute errors: outages and bursts are what a series of requests is made of, and squared they would rule the weights.
func (m Ridge) regress(z, filled []float64) (weights []float64, deviation float64, err error) {
	errs := make([]float64, len(z))
	copy(errs, z) // The errors of no weights; none is held down in the first pass.
	spread := math.Inf(1)
	for range passes + 1 {
		weights, err = m.solve(z, filled, errs, tuning*spread)
		if err != nil {
			return nil, 0, err
		}
		m.errorsTo(errs, z, filled, weights)
		spread = robust(errs)
	}
	squares, n := 0.0, 0
	for _, e := range errs {
		if !math.IsNaN(e) {
			squares += e * e
			n++
		}
	}
	return weights, math.Sqrt(squares / float64(max(n-len(weights), 1))), nil
}

// robust is the deviation by the median of the magnitudes, infinite where more than half of the errors are nil.
func robust(errs []float64) float64 {
	magnitudes := make([]float64, 0, len(errs))
	for _, e := range errs {
		if !math.IsNaN(e) {
			magnitudes = append(magnitudes, math.Abs(e))
		}
	}
	slices.Sort(magnitudes)
	if median := magnitudes[len(magnitudes)/2]; median > 0 {
		return 1.4826 * median
	}
	return math.Inf(1)
}

// errorsTo writes the one-step errors, NaN where there is none.
func (m Ridge) errorsTo(dst, z, filled, weights []float64) {
	row := make([]float64, len(weights))
	longest := m.Lags[len(m.Lags)-1]
	for t := range dst {
		dst[t] = math.NaN()
		if t < longest || math.IsNaN(z[t]) {
			continue
		}
		m.regressors(row, filled, t)
		e := z[t]
		for j, w := range weights {
			e -= w * row[j]
		}
		dst[t] = e
	}
}

// solve solves the normal equations (X'WX + λI)b = X'Wy. Targets are the observed values z, regressors the bridged ones;
// W holds down what is old, and errors that are large.
func (m Ridge) solve(z, filled, errs []float64, large float64) ([]float64, error) {
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
		if e := math.Abs(errs[t]); e > large {
			w *= large / e
		}
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
	return solvePenalised(moments, right, cmp.Or(m.Penalty, defaultPenalty)*total)
}

// solvePenalised solves the equations of a lower triangle of moments with a penalty added to its diagonal.
func solvePenalised(moments, right []float64, penalty float64) ([]float64, error) {
	p := len(right)
	symmetric := mat.NewSymDense(p, nil)
	for i := range p {
		for j := range i {
			symmetric.SetSym(i, j, moments[i*p+j])
		}
		symmetric.SetSym(i, i, moments[i*p+i]+penalty)
	}
	var factor mat.Cholesky
	var solution mat.VecDense
	if !factor.Factorize(symmetric) || factor.SolveVecTo(&solution, mat.NewVecDense(p, right)) != nil {
		return nil, fmt.Errorf("the %d normal equations are singular: %w", p, forecast.ErrNoConvergence)
	}
	return solution.RawVector().Data, nil
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
