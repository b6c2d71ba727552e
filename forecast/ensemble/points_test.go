package ensemble_test

import (
	"math"
	"slices"
	"testing"

	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/modeltest"
)

func TestPointsIsAModel(t *testing.T) {
	for _, cold := range []bool{false, true} {
		modeltest.Test(t, ensemble.Points{Auto: ensemble.Auto{Seasons: []int{12}, Budget: brief}, Cold: cold})
	}
}

// Calibration does not move the points.
func TestPointsAreThoseOfAuto(t *testing.T) {
	auto := ensemble.Auto{Seasons: []int{24}, Horizon: 12, Budget: brief}
	values := requests(500, 5)
	calibrated := estimate(t, auto, values[:400])
	points, err := ensemble.Points{Auto: auto}.Estimate(hourly(values[:400]...))
	if err != nil {
		t.Fatal(err)
	}
	got, want := make([]float64, 15), make([]float64, 15)
	for i := range 100 {
		points.PointsTo(got)
		calibrated.PointsTo(want)
		if !slices.Equal(got, want) {
			t.Fatalf("after %d updates: %v, with calibration %v", i, got, want)
		}
		points.Update(values[400+i])
		calibrated.Update(values[400+i])
	}
}

// A cold combination begins with the last value, and learns to weigh from what comes.
func TestColdPointsLearn(t *testing.T) {
	values := requests(700, 6)
	model := ensemble.Points{Auto: ensemble.Auto{Seasons: []int{24}, Horizon: 6, Budget: brief}, Cold: true}
	fitted, err := model.Estimate(hourly(values[:400]...))
	if err != nil {
		t.Fatal(err)
	}
	path := make([]float64, 6)
	fitted.PointsTo(path)
	if last := values[399]; path[0] != last || path[5] != last {
		t.Errorf("begins with %v, want the last value %v", path, last)
	}
	sum, last := 0.0, 0.0
	for i, y := range values[400:] {
		fitted.Update(y)
		if at := 400 + i + 6; i >= 100 && at < len(values) {
			fitted.PointsTo(path)
			sum += math.Abs(values[at] - path[5])
			last += math.Abs(values[at] - y)
		}
	}
	if sum > 0.7*last {
		t.Errorf("six steps ahead the mean absolute error is %.2f of the last value's, want at most 0.7", sum/last)
	}
}
