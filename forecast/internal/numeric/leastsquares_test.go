package numeric_test

import (
	"math"
	"testing"

	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// valley is the function of Rosenbrock (1960) as a sum of squares.
func valley(x, residuals []float64) bool {
	residuals[0], residuals[1] = 10*(x[1]-x[0]*x[0]), 1-x[0]
	return true
}

func TestLeastSquaresInAValley(t *testing.T) {
	start := []float64{-1.2, 1}
	found := numeric.LeastSquares{Decrease: 1e-14, Iterations: 100}.Minimise(valley, start, 2)
	for i, v := range found.X {
		if math.Abs(v-1) > 1e-6 {
			t.Errorf("x[%d] = %v, want 1", i, v)
		}
	}
	if start[0] != -1.2 {
		t.Error("the start was written to")
	}
}

func TestLeastSquaresStaysInTheDomain(t *testing.T) {
	// The best point, 2, lies outside.
	f := func(x, residuals []float64) bool {
		residuals[0] = x[0] - 2
		return x[0] <= 1
	}
	found := numeric.LeastSquares{Decrease: 1e-12, Iterations: 100}.Minimise(f, []float64{0}, 1)
	if !(found.X[0] <= 1 && found.X[0] > 0.9) {
		t.Errorf("x = %v, want just below 1", found.X[0])
	}
}

func TestLeastSquaresOfWhatHasNoSlope(t *testing.T) {
	for name, f := range map[string]func(x, residuals []float64) bool{
		"a constant":     func(_, residuals []float64) bool { residuals[0] = 3; return true },
		"already 0":      func(_, residuals []float64) bool { residuals[0] = 0; return true },
		"not a number":   func(_, residuals []float64) bool { residuals[0] = math.NaN(); return true },
		"never a domain": func(_, _ []float64) bool { return false },
	} {
		found := numeric.LeastSquares{Decrease: 1e-9, Iterations: 50}.Minimise(f, []float64{0.5, 0.5}, 1)
		for _, v := range found.X {
			if v != 0.5 {
				t.Errorf("%s: moved to %v", name, found.X)
			}
		}
	}
}
