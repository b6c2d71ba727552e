package forecaster

import (
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

const (
	// mostHours are a little more than two weeks, so that a week is seen twice.
	mostHours = 15 * 24
	// hoursBudget is the CPU time that the fit of a day may take. Eight times as much forecasts a hundredth better.
	hoursBudget = 10 * time.Millisecond
)

// Hours are the means of the demand over the last hours, and what is needed to forecast the next ones.
type Hours struct {
	means   forecast.Series
	seasons []time.Duration
	limit   demand.Limit
}

// Hours returns those that are known now. They do not change with the forecaster.
func (f *Forecaster) Hours() Hours {
	out := Hours{means: f.record.hours.series(f.config.Step), seasons: f.config.Seasons}
	if len(out.seasons) == 0 {
		out.seasons = []time.Duration{windowpeak.Day}
	}
	if f.peaks != nil {
		out.limit = f.bound.Limit(len(f.peaks.Windows) - 1)
	}
	return out
}

// NextDay forecasts the demand of the next 24 hours, the mean of each, by the ensemble (package ensemble), which looks for the
// shape of the day. It is nil before a whole day is known.
func (h Hours) NextDay() []snapshot.PathStep {
	day := int((windowpeak.Day + h.means.Step - 1) / h.means.Step)
	if h.means.Len() < day {
		return nil
	}
	auto := ensemble.Auto{Horizon: day, Budget: hoursBudget}
	for _, season := range h.seasons {
		if season%h.means.Step == 0 && season >= 2*h.means.Step {
			auto.Seasons = append(auto.Seasons, int(season/h.means.Step))
		}
	}
	fitted, err := auto.Fit(h.means)
	if err != nil {
		return nil // All of it is a gap.
	}
	next := fitted.Forecast(day)
	levels := snapshot.PathLevels()
	out := make([]snapshot.PathStep, day)
	for i := range out {
		out[i].Time = h.means.End().Add(time.Duration(i-1) * h.means.Step)
		out[i].Point, _ = h.limit.CapForecast(next.Point[i])
	}
	for j, level := range levels {
		for i, q := range next.Quantile(level) {
			out[i].Quantiles[j], _ = h.limit.CapForecast(q)
		}
	}
	return out
}
