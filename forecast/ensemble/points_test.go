package ensemble_test

import (
	"slices"
	"testing"

	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/modeltest"
)

func TestPointsIsAModel(t *testing.T) {
	modeltest.Test(t, ensemble.Points{Auto: ensemble.Auto{Seasons: []int{12}, Budget: brief}})
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
