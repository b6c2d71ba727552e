package arima_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/regress"
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

// daytime is an hourly series with a season of a day around an ARMA(1,0,0).
func daytime(n int) []float64 {
	random := rand.New(rand.NewPCG(24, 1))
	out := make([]float64, n)
	rest := 0.0
	for t := range out {
		rest = 0.8*rest + random.NormFloat64()
		phase := 2 * math.Pi * float64(t) / 24
		out[t] = 100 + 20*math.Sin(phase) + 8*math.Cos(2*phase) + rest
	}
	return out
}

func BenchmarkSeasonal(b *testing.B) {
	values := daytime(900)
	order := arima.ARIMA{P: 1, Q: 1, Seasonal: arima.Seasonal{D: 1, Q: 1, Period: 24}}
	waves := arima.ARIMA{
		P:          1,
		Q:          1,
		Constant:   true,
		Regressors: regress.Design{regress.Fourier{Period: 24, Harmonics: 3}},
	}
	for _, c := range []struct {
		name   string
		model  forecast.Model
		values []float64
	}{
		{"ARIMA(1,0,1)(0,1,1)", order, values},
		{"ARIMA(1,0,1)(0,1,1), 1 % gaps", order, withGaps(values, 1, 0.01)},
		{"ARIMA(1,0,1)(0,1,1), 30 % gaps", order, withGaps(values, 1, 0.3)},
		{"ARIMA(1,0,1), Fourier", waves, values},
		{"Auto", arima.Auto{Period: 24}, values},
		{"Auto, 1 % gaps", arima.Auto{Period: 24}, withGaps(values, 1, 0.01)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.model.Fit(daily(c.values)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkM4Hourly is the mean cost of an automatic seasonal model on one of the M4 competition's hourly series.
func BenchmarkM4Hourly(b *testing.B) {
	all := hourly(b, 7)
	for b.Loop() {
		for _, values := range all {
			if _, err := (arima.Auto{Period: 24}).Fit(daily(values)); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*len(all)), "s/series")
}

func BenchmarkSeasonalUpdate(b *testing.B) {
	for _, period := range []int{24, 1440} {
		b.Run(fmt.Sprintf("m=%d", period), func(b *testing.B) {
			model := arima.ARIMA{
				P:        1,
				D:        1,
				Q:        1,
				Seasonal: arima.Seasonal{D: 1, Q: 1, Period: period},
				Fixed: &arima.Coefficients{
					AR: []float64{0.3}, MA: []float64{-0.6}, SMA: []float64{-0.8},
				},
			}
			fitted, err := model.Fit(daily(daytime(3 * period)))
			if err != nil {
				b.Fatal(err)
			}
			dst := make([]float64, 15)
			b.ReportAllocs()
			for b.Loop() {
				fitted.Update(100)
				fitted.PointsTo(dst)
			}
		})
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
