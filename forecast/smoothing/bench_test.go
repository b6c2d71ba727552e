package smoothing_test

import (
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/smoothing"
)

func BenchmarkFit(b *testing.B) {
	s := daily(seasonal(1, 20160, 1440))
	for _, model := range []forecast.Model{
		smoothing.SES{},
		smoothing.Holt{Damped: true},
		smoothing.HoltWinters{Period: 1440},
		smoothing.HoltWinters{Period: 1440, Trend: smoothing.DampedTrend},
		smoothing.HoltWinters{Period: 2880, Trend: smoothing.NoTrend},
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

// BenchmarkFitHours fits five weeks of hours, as long as the hourly series of the M4 competition are.
func BenchmarkFitHours(b *testing.B) {
	s := daily(seasonal(1, 900, 24))
	for _, model := range []forecast.Model{
		smoothing.HoltWinters{Period: 24},
		smoothing.HoltWinters{Period: 24, Trend: smoothing.NoTrend},
		smoothing.HoltWinters{Period: 24, Multiplicative: true},
		smoothing.HoltWinters{Period: 24, Criterion: smoothing.Criterion{Horizon: 24}},
		smoothing.DoubleSeasonal{Periods: [2]int{24, 168}},
		smoothing.DoubleSeasonal{Periods: [2]int{24, 168}, Damped: true},
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

func BenchmarkUpdate(b *testing.B) {
	fitted, err := smoothing.HoltWinters{Period: 1440}.Fit(daily(seasonal(1, 20160, 1440)))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		fitted.Update(100)
	}
}
