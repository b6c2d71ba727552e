package smoothing_test

import (
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/smoothing"
)

func models() []forecast.Model {
	return []forecast.Model{
		smoothing.SES{},
		smoothing.Holt{},
		smoothing.Holt{Damped: true},
		smoothing.HoltWinters{Period: 2},
		smoothing.HoltWinters{Period: 7},
		smoothing.HoltWinters{Period: 12, Trend: smoothing.DampedTrend},
		smoothing.HoltWinters{Period: 12, Trend: smoothing.NoTrend},
		smoothing.HoltWinters{Period: 7, Criterion: smoothing.Criterion{Horizon: 5}},
		smoothing.Holt{Criterion: smoothing.Criterion{Horizon: 5}},
		smoothing.DoubleSeasonal{Periods: [2]int{3, 12}},
		smoothing.DoubleSeasonal{Periods: [2]int{3, 12}, Damped: true},
	}
}

func TestHostileSeries(t *testing.T) {
	for _, model := range models() {
		modeltest.Test(t, model)
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(2), uint8(0), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, period, trend uint8, raw []byte) {
		values := modeltest.Values(raw)
		modeltest.Check(t, smoothing.SES{}, values)
		modeltest.Check(t, smoothing.Holt{Damped: trend%2 == 1}, values)
		modeltest.Check(t, smoothing.HoltWinters{Period: int(period % 30), Trend: smoothing.Trend(trend % 3)}, values)
		periods := [2]int{int(period % 5), int(period % 5 * (trend % 5))}
		modeltest.Check(t, smoothing.DoubleSeasonal{Periods: periods}, values)
	})
}
