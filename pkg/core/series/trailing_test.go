package series_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/series"
)

func TestSlidingMaxima(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		values := make([]float64, 300)
		for i := range values {
			values[i] = float64(rng.IntN(50))
			if rng.IntN(10) == 0 {
				values[i] = math.NaN()
			}
		}
		window := 1 + rng.IntN(40)
		highest := series.NewTrailingMax(window)
		for i, v := range values {
			got, want := highest.Push(v), maxKnown(values[max(0, i+1-window):i+1])
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("the highest of %d at %d is %v, want %v", window, i, got, want)
			}
		}
	}
}

// maxKnown is NaN where all values are.
func maxKnown(values []float64) float64 {
	out := math.NaN()
	for _, v := range values {
		if !(v <= out) && !math.IsNaN(v) {
			out = v
		}
	}
	return out
}
