package naive_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast/naive"
)

// levels are noise with a deviation of 1 about some levels, of so many steps each.
func levels(steps int, means ...float64) []float64 {
	random := rand.New(rand.NewPCG(5, 2))
	var out []float64
	for _, mean := range means {
		for range steps {
			out = append(out, mean+random.NormFloat64())
		}
	}
	return out
}

// After a shift of three deviations the mean is that of the new level, by about as many observations as it has; one far
// value is no shift.
func TestSegment(t *testing.T) {
	fitted, ok := fit(t, naive.Segment{}, daily(levels(100, 50, 53, 47)...)).(*naive.FittedSegment)
	if !ok {
		t.Fatal("no FittedSegment")
	}
	newest := fitted.Forecast(2)
	if got := newest.Point[1]; math.Abs(got-47) > 0.4 {
		t.Errorf("forecast %v, want 47", got)
	}
	if got := fitted.Length(); got < 90 || got > 105 {
		t.Errorf("the newest segment has %d observations, want about 100", got)
	}
	fitted.Update(nan)
	fitted.Update(math.Inf(1))
	same(t, "point after gaps", fitted.Forecast(1).Point, newest.Point[:1])
	fitted.Update(1000)
	fitted.Update(47)
	if got := fitted.Length(); got < 90 {
		t.Errorf("%d observations after a far value: it was taken for a shift", got)
	}
	for _, y := range levels(12, 60) {
		fitted.Update(y)
	}
	if got := fitted.Forecast(1).Point[0]; math.Abs(got-60) > 1.5 {
		t.Errorf("forecast %v after another shift, want 60", got)
	}
}

// On a wandering level a shift of noise is none: the multiple with the least error at the horizon is taken.
func TestSegmentFollowsAWanderingLevel(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 2))
	values, level := make([]float64, 2000), 100.0
	for i := range values {
		level += random.NormFloat64()
		values[i] = level
	}
	point := fit(t, naive.Segment{Horizon: 5}, daily(values...)).Forecast(1).Point[0]
	if off := math.Abs(point - level); off > 10 {
		t.Errorf("forecast %v where the level is %v", point, level)
	}
}
