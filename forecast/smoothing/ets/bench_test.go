package ets_test

import (
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
)

// BenchmarkFit fits five weeks of hours, as long as the hourly series of the M4 competition are.
func BenchmarkFit(b *testing.B) {
	s := daily(demand(1, 900, 24))
	for _, model := range []forecast.Model{
		ets.Auto{Period: 24},
		ets.Auto{},
		ets.Model{Spec: ets.Spec{Season: ets.AdditiveSeason}, Period: 24},
		ets.Model{Spec: ets.Spec{ets.MultiplicativeError, ets.DampedTrend, ets.MultiplicativeSeason}, Period: 24},
	} {
		b.Run(model.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := model.Fit(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEvaluate makes one pass over 900 values with everything fixed, and the copy and the set-up around it.
func BenchmarkEvaluate(b *testing.B) {
	s := daily(demand(1, 900, 4))
	for _, spec := range allSpecs() {
		model := known(spec)
		b.Run(spec.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := model.Fit(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, spec := range []ets.Spec{
		{Season: ets.AdditiveSeason},
		{Error: ets.MultiplicativeError, Trend: ets.DampedTrend, Season: ets.MultiplicativeSeason},
	} {
		fitted, err := ets.Model{Spec: spec, Period: 24}.Fit(daily(demand(1, 900, 24)))
		if err != nil {
			b.Fatal(err)
		}
		points := make([]float64, 15)
		b.Run(spec.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fitted.Update(100)
				fitted.PointsTo(points)
			}
		})
	}
}

// BenchmarkPass makes one pass over 900 values, and one with the gradient along all 28 variables.
func BenchmarkPass(b *testing.B) {
	s := daily(demand(1, 900, 24))
	for _, spec := range []ets.Spec{
		{Season: ets.AdditiveSeason},
		{Error: ets.MultiplicativeError, Trend: ets.DampedTrend, Season: ets.MultiplicativeSeason},
	} {
		deviance, err := ets.NewDeviance(ets.Model{Spec: spec, Period: 24}, s)
		if err != nil {
			b.Fatal(err)
		}
		x := make([]float64, deviance.Variables())
		for i := range 4 {
			x[i] = 0.3
		}
		gradient := make([]float64, len(x))
		b.Run(spec.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				deviance.Value(x)
			}
		})
		b.Run(spec.String()+" with gradient", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				deviance.Value(x)
				deviance.Gradient(x, gradient)
			}
		})
	}
}
