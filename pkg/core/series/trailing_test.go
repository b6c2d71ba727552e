package series_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// pushed returns the result of each push.
func pushed(values []float64, push func(float64) float64) []float64 {
	var out []float64
	for _, v := range values {
		out = append(out, push(v))
	}
	return out
}

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
		for i, got := range pushed(values, series.NewTrailingMax(window).Push) {
			want := maxKnown(values[max(0, i+1-window) : i+1])
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

// A long window drops a block at a time: never earlier than the window less a block, nor later than the window and a
// block.
func TestCoarseMaxima(t *testing.T) {
	const window, block = 1440, 5
	values := make([]float64, 4000)
	values[100] = 7
	got := pushed(values, series.NewCoarseMax(window).Push)
	for i, v := range got {
		age := i - 100
		switch {
		case age >= 0 && age < window-block && v != 7:
			t.Fatalf("%v after %d steps, want it remembered", v, age)
		case age > window+block && v != 0:
			t.Fatalf("%v after %d steps, want it forgotten", v, age)
		}
	}
}
