package numeric

import "math"

// Result is the result of a search: the best point, its value, and the number of evaluations.
type Result struct {
	X           []float64
	Value       float64
	Evaluations int
}

// The coefficients of Nelder and Mead (1965).
const (
	reflection  = 1.0
	expansion   = 2.0
	contraction = 0.5
	shrinkage   = 0.5
)

// Simplex searches by the downhill simplex of Nelder and Mead (1965).
type Simplex struct {
	// Edge is the length of the first simplex along each axis.
	Edge float64
	// Tolerance ends the search when the values at the corners differ by less than this share of the best value.
	Tolerance float64
	// Evaluations bounds the work.
	Evaluations int
}

// corner is one point of the simplex with its value.
type corner struct {
	x     []float64
	value float64
}

// simplexRun is one search: the corners, the best first, and scratch memory for the trial points.
type simplexRun struct {
	f           func([]float64) float64
	corners     []corner
	centre      []float64
	trial, next []float64
	evaluations int
}

// Minimise searches from x0, which it does not change. Values that are NaN count as +Inf.
func (s Simplex) Minimise(f func([]float64) float64, x0 []float64) Result {
	run := newSimplexRun(f, x0, s.Edge)
	for run.evaluations < s.Evaluations && !run.flat(s.Tolerance) {
		run.step()
	}
	best := run.corners[0]
	return Result{X: best.x, Value: best.value, Evaluations: run.evaluations}
}

func newSimplexRun(f func([]float64) float64, x0 []float64, edge float64) *simplexRun {
	n := len(x0)
	run := &simplexRun{
		f: f, corners: make([]corner, n+1),
		centre: make([]float64, n), trial: make([]float64, n), next: make([]float64, n),
	}
	for i := range run.corners {
		x := append([]float64(nil), x0...)
		if i > 0 {
			x[i-1] += edge
		}
		run.corners[i] = corner{x: x, value: run.evaluate(x)}
	}
	run.sort()
	return run
}

func (r *simplexRun) evaluate(x []float64) float64 {
	r.evaluations++
	if v := r.f(x); !math.IsNaN(v) {
		return v
	}
	return math.Inf(1)
}

// sort sorts the corners by value. The insertion sort keeps equal corners in their order, which makes the search reproducible.
func (r *simplexRun) sort() {
	for i := 1; i < len(r.corners); i++ {
		for j := i; j > 0 && r.corners[j].value < r.corners[j-1].value; j-- {
			r.corners[j], r.corners[j-1] = r.corners[j-1], r.corners[j]
		}
	}
}

func (r *simplexRun) flat(tolerance float64) bool {
	best, worst := r.corners[0].value, r.corners[len(r.corners)-1].value
	return worst-best <= tolerance*math.Abs(best) || len(r.centre) == 0
}

// along writes a point to dst. It is on the line from the worst corner through the center of the other corners, and beyond this center by t
// times their distance.
func (r *simplexRun) along(t float64, dst []float64) float64 {
	worst := r.corners[len(r.corners)-1].x
	for i, c := range r.centre {
		dst[i] = c + t*(c-worst[i])
	}
	return r.evaluate(dst)
}

func (r *simplexRun) step() {
	n := len(r.centre)
	for i := range r.centre {
		sum := 0.0
		for _, c := range r.corners[:n] {
			sum += c.x[i]
		}
		r.centre[i] = sum / float64(n)
	}
	reflected := r.along(reflection, r.trial)
	switch {
	case reflected < r.corners[0].value:
		if expanded := r.along(expansion, r.next); expanded < reflected {
			r.replace(r.next, expanded)
			return
		}
		r.replace(r.trial, reflected)
	case reflected < r.corners[n-1].value:
		r.replace(r.trial, reflected)
	default:
		r.contract(reflected)
	}
}

// contract moves the worst corner inward, from the outside if the reflected point was better than the worst corner. If this does not help,
// it shrinks the whole simplex toward the best corner.
func (r *simplexRun) contract(reflected float64) {
	worst := r.corners[len(r.corners)-1].value
	t := -contraction
	if reflected < worst {
		t = contraction
	}
	if v := r.along(t, r.next); v < math.Min(worst, reflected) {
		r.replace(r.next, v)
		return
	}
	best := r.corners[0].x
	for i := range r.corners[1:] {
		c := &r.corners[i+1]
		for k := range c.x {
			c.x[k] = best[k] + shrinkage*(c.x[k]-best[k])
		}
		c.value = r.evaluate(c.x)
	}
	r.sort()
}

func (r *simplexRun) replace(x []float64, value float64) {
	worst := &r.corners[len(r.corners)-1]
	copy(worst.x, x)
	worst.value = value
	r.sort()
}
