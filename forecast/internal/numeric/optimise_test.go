package numeric_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

func rosenbrock(x []float64) float64 {
	a, b := 1-x[0], x[1]-x[0]*x[0]
	return a*a + 100*b*b
}

func bowl(x []float64) float64 {
	sum := 3.0
	for i, v := range x {
		d := v - float64(i)/4
		sum += float64(i+1) * d * d
	}
	return sum
}

type method interface {
	Minimise(f func([]float64) float64, x0 []float64) numeric.Result
}

func methods() map[string]method {
	return map[string]method{
		"simplex": numeric.Simplex{Edge: 0.3, Tolerance: 1e-14, Evaluations: 4000},
		"BFGS":    numeric.QuasiNewton{Gradient: 1e-7, Decrease: 1e-15, Iterations: 300},
	}
}

func TestFindsTheMinimum(t *testing.T) {
	for name, m := range methods() {
		start := []float64{-1.2, 1}
		got := m.Minimise(rosenbrock, start)
		if math.Hypot(got.X[0]-1, got.X[1]-1) > 1e-4 {
			t.Errorf("%s: Rosenbrock's valley ends at %v", name, got.X)
		}
		if diff := cmp.Diff([]float64{-1.2, 1}, start); diff != "" {
			t.Errorf("%s changed the start: %s", name, diff)
		}
		if got := m.Minimise(bowl, make([]float64, 5)); math.Abs(got.Value-3) > 1e-8 {
			t.Errorf("%s: the bowl's floor is at %v", name, got.Value)
		}
	}
}

func TestStaysInTheDomain(t *testing.T) {
	half := func(x []float64) float64 {
		if x[0] < 0.5 {
			return math.NaN()
		}
		return x[0]*x[0] + x[1]*x[1]
	}
	for name, m := range methods() {
		got := m.Minimise(half, []float64{2, 1})
		if got.X[0] < 0.5 || got.Value > 5 {
			t.Errorf("%s: ends at %v with %v", name, got.X, got.Value)
		}
	}
}

func TestEndsOnFlatGround(t *testing.T) {
	for name, m := range methods() {
		got := m.Minimise(func([]float64) float64 { return 1 }, []float64{1, 2, 3})
		if got.Evaluations > 20 {
			t.Errorf("%s: %d evaluations of a constant", name, got.Evaluations)
		}
		if got := m.Minimise(func([]float64) float64 { return 1 }, nil); got.Value != 1 {
			t.Errorf("%s: nothing to search: %v", name, got.Value)
		}
	}
}
