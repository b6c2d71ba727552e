package innovations_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/forewarm/forewarm/forecast/smoothing/internal/innovations"
)

// A line of slope 1 with a season of +3, −1, −2 on it: the decomposition finds all three.
func ExampleAdditive() {
	s := innovations.Additive([]float64{13, 10, 10, 16, 13, 13, 19, 16, 16}, 3)
	fmt.Printf("%.2f %.2f %.2f\n", s.Level, s.Trend, s.Season)
	// Output: 10.00 1.00 [3.00 -1.00 -2.00]
}

// A flat level of 10 with a season of 1.5 and 0.5.
func ExampleMultiplicative() {
	s := innovations.Multiplicative([]float64{15, 5, 15, 5, 15, 5}, 2)
	fmt.Printf("%.2f %.2f %.2f\n", s.Level, s.Trend, s.Season)
	// Output: 10.00 0.00 [1.50 0.50]
}

func TestLinePassesOverGaps(t *testing.T) {
	intercept, slope := innovations.Line([]float64{3, math.NaN(), 7, 9, math.NaN()})
	if math.Abs(intercept-1) > 1e-12 || math.Abs(slope-2) > 1e-12 {
		t.Errorf("1 + 2t: %v + %v·t", intercept, slope)
	}
	if intercept, slope = innovations.Line([]float64{5}); intercept != 5 || slope != 0 {
		t.Errorf("one point of 5: %v + %v·t", intercept, slope)
	}
}
