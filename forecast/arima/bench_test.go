package arima_test

import (
	"fmt"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
)

func BenchmarkFit(b *testing.B) {
	for _, n := range []int{1440, 20160} {
		plain := simulate(1, n, 0)
		for _, c := range []struct {
			name   string
			model  forecast.Model
			values []float64
		}{
			{"ARIMA(2,0,1)", arima.ARIMA{P: 2, Q: 1, Constant: true}, plain},
			{"ARIMA(1,1,1)", arima.ARIMA{P: 1, D: 1, Q: 1}, plain},
			{"ARIMA(2,0,1), 2 % gaps", arima.ARIMA{P: 2, Q: 1, Constant: true}, withGaps(plain, 1, 0.02)},
			{"Auto", arima.Auto{}, plain},
		} {
			b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) {
				s := daily(c.values)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.model.Fit(s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	fitted, err := arima.ARIMA{P: 2, D: 1, Q: 1}.Fit(daily(simulate(1, 20160, 1)))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		fitted.Update(50)
	}
}

func BenchmarkPointsTo(b *testing.B) {
	fitted, err := arima.ARIMA{P: 2, D: 1, Q: 1}.Fit(daily(simulate(1, 20160, 1)))
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]float64, 60)
	b.ReportAllocs()
	for b.Loop() {
		fitted.PointsTo(dst)
	}
}
