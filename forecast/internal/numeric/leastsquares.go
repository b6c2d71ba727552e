package numeric

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// forwardStep is the step of the forward differences. It is close to the square root of the rounding error.
	forwardStep = 1e-6
	// firstDamping is small, because the problems are almost linear. A step is tried with more and more damping, up to largestDamping.
	firstDamping   = 1e-3
	largestDamping = 1e8
)

// LeastSquares minimizes a sum of squares (Levenberg 1944, Marquardt 1963). It approximates the derivatives by finite differences. If the
// residuals are innovations of a model, it needs a tenth of the evaluations of a general search, because their derivatives also give the
// curvature. Variables are expected to be of the order of 1.
type LeastSquares struct {
	// Decrease ends the search when a step gains less than this share of the sum of squares.
	Decrease float64
	// Iterations bounds the work.
	Iterations int
}

// squaresRun is one search: the point with its residuals, their derivatives and the normal equations.
type squaresRun struct {
	f                func(x, residuals []float64) bool
	x, next, step    []float64
	residuals, other []float64
	derivatives      [][]float64
	normal, factor   [][]float64
	slope            []float64
	value, damper    float64
	evaluations      int
}

// Minimise searches for the smallest half sum of squares of n residuals from x0, which it does not change. f writes the residuals at a
// point, and returns false if the point is outside the domain. x0 must be inside the domain.
func (l LeastSquares) Minimise(f func(x, residuals []float64) bool, x0 []float64, n int) Result {
	run := newSquaresRun(f, x0, n)
	small := 0
	for range l.Iterations {
		before := run.value
		if !(run.value > 0) || math.IsInf(run.value, 1) {
			break
		}
		run.differentiate()
		if !run.descend() {
			break
		}
		// A single small step may only be small because of the damping.
		if before-run.value >= l.Decrease*before {
			small = 0
			continue
		}
		small++
		if small == 2 || run.damper <= firstDamping {
			break
		}
	}
	return Result{X: run.x, Value: run.value, Evaluations: run.evaluations}
}

func newSquaresRun(f func(x, residuals []float64) bool, x0 []float64, n int) *squaresRun {
	k := len(x0)
	run := &squaresRun{
		f: f, x: append([]float64(nil), x0...), next: make([]float64, k), step: make([]float64, k),
		residuals: make([]float64, n), other: make([]float64, n), slope: make([]float64, k), damper: firstDamping,
		derivatives: make([][]float64, k), normal: make([][]float64, k), factor: make([][]float64, k),
	}
	for i := range k {
		run.derivatives[i] = make([]float64, n)
		run.normal[i], run.factor[i] = make([]float64, k), make([]float64, k)
	}
	run.value = run.evaluate(run.x, run.residuals)
	return run
}

// evaluate returns half the sum of squares at x, or +Inf outside the domain.
func (r *squaresRun) evaluate(x, residuals []float64) float64 {
	r.evaluations++
	if !r.f(x, residuals) {
		return math.Inf(1)
	}
	if v := floats.Dot(residuals, residuals) / 2; !math.IsNaN(v) {
		return v
	}
	return math.Inf(1)
}

// differentiate sets up the normal equations at x. A derivative that cannot be measured is 0.
func (r *squaresRun) differentiate() {
	copy(r.next, r.x)
	for i, d := range r.derivatives {
		r.next[i] = r.x[i] + forwardStep
		if v := r.evaluate(r.next, d); math.IsInf(v, 1) {
			clear(d)
		} else {
			floats.Sub(d, r.residuals)
			floats.Scale(1/forwardStep, d)
		}
		r.next[i] = r.x[i]
		r.slope[i] = floats.Dot(d, r.residuals)
		for j := range i + 1 {
			r.normal[i][j] = floats.Dot(d, r.derivatives[j])
		}
	}
}

// descend makes a step that reduces the sum of squares, with as much damping as needed. It returns false if no step gained anything.
func (r *squaresRun) descend() bool {
	for r.damper < largestDamping {
		r.solve()
		floats.AddTo(r.next, r.x, r.step)
		if v := r.evaluate(r.next, r.other); v < r.value {
			r.x, r.next = r.next, r.x
			r.residuals, r.other = r.other, r.residuals
			r.value = v
			r.damper /= 10
			return true
		}
		r.damper *= 8
	}
	return false
}

// solve computes the damped step from the normal equations by Cholesky decomposition, and bounds it.
func (r *squaresRun) solve() {
	longest := 0.0
	for i, row := range r.normal {
		longest = math.Max(longest, row[i])
	}
	for i, row := range r.factor {
		copy(row, r.normal[i][:i+1])
		row[i] += r.damper*row[i] + 1e-12*longest + math.SmallestNonzeroFloat64
		for j := range i {
			row[j] = (row[j] - floats.Dot(row[:j], r.factor[j][:j])) / r.factor[j][j]
		}
		row[i] = math.Sqrt(math.Max(row[i]-floats.Dot(row[:i], row[:i]), 1e-13*longest+math.SmallestNonzeroFloat64))
		r.step[i] = (-r.slope[i] - floats.Dot(row[:i], r.step[:i])) / row[i]
	}
	largest := 0.0
	for i := len(r.step) - 1; i >= 0; i-- {
		for k := i + 1; k < len(r.step); k++ {
			r.step[i] -= r.factor[k][i] * r.step[k]
		}
		r.step[i] /= r.factor[i][i]
		largest = math.Max(largest, math.Abs(r.step[i]))
	}
	if largest > longestStep {
		floats.Scale(longestStep/largest, r.step)
	}
}
