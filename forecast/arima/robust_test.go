package arima_test

import (
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/modeltest"
)

func models() []forecast.Model {
	return []forecast.Model{
		arima.ARIMA{},
		arima.ARIMA{Constant: true},
		arima.ARIMA{D: 1, Constant: true},
		arima.ARIMA{P: 2, Q: 1, Constant: true},
		arima.ARIMA{P: 1, D: 1, Q: 1},
		arima.ARIMA{P: 1, D: 2, Q: 2},
		arima.ARIMA{P: 3, Q: 3},
		arima.Auto{},
		arima.ARIMA{Seasonal: arima.Seasonal{P: 1, Period: 12}, Constant: true},
		arima.ARIMA{P: 1, Q: 1, Seasonal: arima.Seasonal{P: 1, D: 1, Q: 1, Period: 12}, Constant: true},
		arima.ARIMA{P: 2, D: 1, Q: 2, Seasonal: arima.Seasonal{D: 1, Q: 2, Period: 4}},
		arima.ARIMA{D: 1, Q: 1, Seasonal: arima.Seasonal{D: 1, Q: 1, Period: 12}},
		arima.Auto{Period: 12, MaxP: 1, MaxQ: 1, MaxSeasonalP: 1, MaxSeasonalQ: 1},
	}
}

func TestHostileSeries(t *testing.T) {
	for _, model := range models() {
		modeltest.Test(t, model)
	}
}

func TestConstantSeriesGoesOn(t *testing.T) {
	fitted, err := arima.Auto{}.Estimate(daily(modeltest.Hostile()["constant"]))
	if err != nil {
		t.Fatal(err)
	}
	next := fitted.Forecast(3)
	for i := range next.Point {
		within(t, "point", next.Point[i], 7.3, 1e-12)
		within(t, "standard error", next.StdErr[i], 0, 1e-12)
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(1), uint8(1), uint8(1), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, p, d, q uint8, raw []byte) {
		values := modeltest.Values(raw)
		modeltest.Check(t, arima.ARIMA{P: int(p % 4), D: int(d % 3), Q: int(q % 4), Constant: d%3 < 2}, values)
		modeltest.Check(t, arima.ARIMA{
			P: int(p / 4 % 2), D: int(d / 3 % 2), Q: int(q / 4 % 2), Constant: d/3%2 == 0,
			Seasonal: arima.Seasonal{P: int(p / 8 % 3), D: int(d / 6 % 2), Q: int(q / 8 % 3), Period: 2 + int(d/12%6)},
		}, values)
	})
}
