package trailing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/trailing"
)

// after gives what each push returns.
func after(values []float64, push func(float64) float64) []float64 {
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
		for i, got := range after(values, trailing.NewMax(window).Push) {
			if want := top(values[max(0, i+1-window) : i+1]); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("the highest of %d at %d is %v, want %v", window, i, got, want)
			}
		}
	}
}

// top is NaN where all are.
func top(values []float64) float64 {
	out := math.NaN()
	for _, v := range values {
		if !(v <= out) && !math.IsNaN(v) {
			out = v
		}
	}
	return out
}

// A long window forgets a block at a time: never sooner than the window less a block, nor later than the window and one.
func TestCoarseMaxima(t *testing.T) {
	const window, block = 1440, 5
	values := make([]float64, 4000)
	values[100] = 7
	got := after(values, trailing.NewCoarse(window).Push)
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
