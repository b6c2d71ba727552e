package ensemble_test

import (
	"testing"

	"github.com/forewarm/forewarm/forecast/ensemble"
)

// Five and a half weeks of hours with both seasons: fit, replay of the last 12 days, fit again.
func BenchmarkFit(b *testing.B) {
	series := hourly(requests(930, 1)...)
	for b.Loop() {
		if _, err := (ensemble.Auto{Seasons: []int{24, 168}, Horizon: 48}).Fit(series); err != nil {
			b.Fatal(err)
		}
	}
}

// A value, the path of 15 steps and three quantiles of it.
func BenchmarkUpdate(b *testing.B) {
	for name, horizons := range map[string][]int{"four horizons": {1, 5, 10, 15}, "all fifteen": nil} {
		b.Run(name, func(b *testing.B) { update(b, horizons) })
	}
}

func update(b *testing.B, horizons []int) {
	b.Helper()
	values := requests(6000, 2)
	auto := ensemble.Auto{Seasons: []int{1440}, Horizons: horizons, Horizon: 15}
	fitted, err := auto.Estimate(hourly(values...))
	if err != nil {
		b.Fatal(err)
	}
	path := make([]float64, 15)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		fitted.Update(values[i%len(values)])
		i++
		fitted.PointsTo(path)
		for _, p := range []float64{0.5, 0.9, 0.95} {
			fitted.QuantileTo(path, p)
		}
	}
}

// The same value and path, with nothing calibrated.
func BenchmarkUpdatePoints(b *testing.B) {
	values := requests(6000, 2)
	auto := ensemble.Auto{Seasons: []int{1440}, Horizons: []int{1, 5, 10, 15}}
	fitted, err := ensemble.Points{Auto: auto}.Estimate(hourly(values...))
	if err != nil {
		b.Fatal(err)
	}
	path := make([]float64, 15)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		fitted.Update(values[i%len(values)])
		i++
		fitted.PointsTo(path)
	}
}
