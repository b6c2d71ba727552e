package numeric

import "math"

const (
	// differenceStep is the half-width of the central differences. The truncation error is about its square, and the rounding error is
	// about 1e-16 divided by it.
	differenceStep = 3e-5
	// armijo is the share of the predicted descent that a step must achieve.
	armijo = 1e-4
	// longestStep bounds one step in every coordinate, so that a poor first guess of the curvature does not move the point far away.
	longestStep = 2.0
	halvings    = 24
)

// QuasiNewton searches with the method of Broyden, Fletcher, Goldfarb and Shanno (1970), with gradients from central differences. Variables
// are expected to be of the order of 1.
type QuasiNewton struct {
	// Gradient ends the search when every component of the gradient is smaller.
	Gradient float64
	// Decrease ends the search when a step gains less than this share of 1 + |value|.
	Decrease float64
	// Iterations bounds the work.
	Iterations int
}

// quasiRun is one search: the point, its gradient, and the inverse of the curvature as far as it is known.
type quasiRun struct {
	f                  func([]float64) float64
	x, gradient        []float64
	value              float64
	inverse            [][]float64
	direction          []float64
	nextX, nextG       []float64
	step, change, work []float64
	evaluations        int
}

// Minimise searches from x0, which it does not change. The value at x0 must be finite. At other points, +Inf and NaN mean that the point is
// outside the domain.
func (q QuasiNewton) Minimise(f func([]float64) float64, x0 []float64) Result {
	run := newQuasiRun(f, x0)
	for range q.Iterations {
		if run.steepest() < q.Gradient {
			break
		}
		before := run.value
		if !run.descend() {
			run.forget()
			if !run.descend() {
				break
			}
		}
		if before-run.value < q.Decrease*(1+math.Abs(run.value)) {
			break
		}
	}
	return Result{X: run.x, Value: run.value, Evaluations: run.evaluations}
}

// newQuasiRun returns a search that starts at x0.
func newQuasiRun(f func([]float64) float64, x0 []float64) *quasiRun {
	n := len(x0)
	room := make([]float64, (8+n)*n)
	take := func() []float64 {
		part := room[:n:n]
		room = room[n:]
		return part
	}
	run := &quasiRun{
		f: f, x: take(), gradient: take(), direction: take(), nextX: take(), nextG: take(),
		step: take(), change: take(), work: take(), inverse: make([][]float64, n),
	}
	for i := range run.inverse {
		run.inverse[i] = take()
	}
	run.forget()
	copy(run.x, x0)
	run.value = run.evaluate(run.x)
	run.slope(run.x, run.gradient)
	return run
}

func (r *quasiRun) evaluate(x []float64) float64 {
	r.evaluations++
	if v := r.f(x); !math.IsNaN(v) {
		return v
	}
	return math.Inf(1)
}

// forget resets the inverse curvature to the identity.
func (r *quasiRun) forget() {
	for i, row := range r.inverse {
		clear(row)
		row[i] = 1
	}
}

// slope writes the gradient at x, at which f was evaluated last, to dst. A component that cannot be measured is 0. slope restores x.
func (r *quasiRun) slope(x, dst []float64) {
	for i, at := range x {
		x[i] = at + differenceStep
		up := r.evaluate(x)
		x[i] = at - differenceStep
		down := r.evaluate(x)
		x[i] = at
		dst[i] = (up - down) / (2 * differenceStep)
		if math.IsNaN(dst[i]) || math.IsInf(dst[i], 0) {
			dst[i] = 0
		}
	}
}

func (r *quasiRun) steepest() float64 {
	largest := 0.0
	for _, g := range r.gradient {
		largest = math.Max(largest, math.Abs(g))
	}
	return largest
}

// descend makes one step in the quasi-Newton direction and updates the curvature. It returns false if no step gained enough.
func (r *quasiRun) descend() bool {
	promised, longest := 0.0, 0.0
	for i, row := range r.inverse {
		r.direction[i] = -Dot(row, r.gradient)
		promised += r.direction[i] * r.gradient[i]
		longest = math.Max(longest, math.Abs(r.direction[i]))
	}
	if promised >= 0 {
		return false
	}
	t := math.Min(1, longestStep/longest)
	for range halvings {
		for i := range r.x {
			r.nextX[i] = r.x[i] + t*r.direction[i]
		}
		if v := r.evaluate(r.nextX); v <= r.value+armijo*t*promised && v < r.value {
			r.value = v
			r.learn()
			return true
		}
		t /= 2
	}
	return false
}

// learn moves to nextX and updates the inverse curvature H to
// (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ, with s the step, y the change of the gradient and ρ = 1/(sᵀy).
func (r *quasiRun) learn() {
	r.slope(r.nextX, r.nextG)
	for i := range r.x {
		r.step[i] = r.nextX[i] - r.x[i]
		r.change[i] = r.nextG[i] - r.gradient[i]
	}
	copy(r.x, r.nextX)
	copy(r.gradient, r.nextG)
	curvature := Dot(r.step, r.change)
	if curvature <= 1e-12*math.Sqrt(Dot(r.step, r.step)*Dot(r.change, r.change)) {
		return
	}
	for i, row := range r.inverse {
		r.work[i] = Dot(row, r.change)
	}
	weight := (1 + Dot(r.work, r.change)/curvature) / curvature
	for i, row := range r.inverse {
		for j := range row {
			row[j] += weight*r.step[i]*r.step[j] - (r.work[i]*r.step[j]+r.step[i]*r.work[j])/curvature
		}
	}
}

// Dot returns the sum of the products. It adds them in the same order on every machine, unlike floats.Dot, which is faster.
func Dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
