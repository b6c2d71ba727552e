package forecaster

import (
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/pkg/core/adjust"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// maxHours is a little more than two weeks, the default history. A season of a week does not take part in the forecast of
// the next day: the ensemble would need 19 days for it.
const maxHours = 15 * 24

// Hours are the means of the demand over the last hours, and what is needed to forecast the next ones.
type Hours struct {
	means   forecast.Series
	seasons []time.Duration
	limit   demand.Limit
	// known is what is known of each of the next hours; nil where nothing is.
	known []adjust.Effect
}

// Hours returns those that are known now. They do not change with the forecaster.
func (f *Forecaster) Hours() Hours {
	out := Hours{means: f.record.hours.Series(f.config.Step), seasons: f.config.Seasons}
	if len(out.seasons) == 0 {
		out.seasons = []time.Duration{windowpeak.Day}
	}
	if f.peaks != nil {
		out.limit = f.bound.Limit(len(f.peaks.Windows) - 1)
	}
	for i := 0; len(f.adjust) > 0 && i < out.day(); i++ {
		begin := out.hour(i)
		out.known = append(out.known, f.adjust.Over(begin, begin.Add(out.means.Step)))
	}
	return out
}

// day is how many means a day has.
func (h Hours) day() int { return int((windowpeak.Day + h.means.Step - 1) / h.means.Step) }

// hour is the begin of the i-th mean that comes.
func (h Hours) hour(i int) time.Time { return h.means.End().Add(time.Duration(i-1) * h.means.Step) }

// NextDay forecasts the demand of the next 24 hours, the mean of each, by the ensemble (package ensemble), which looks for the
// shape of the day. It is nil before a whole day is known.
func (h Hours) NextDay() []snapshot.PathStep {
	day := h.day()
	if h.means.Len() < day {
		return nil
	}
	auto := ensemble.Auto{Horizon: day}
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
		out[i].Time = h.hour(i)
		out[i].Point, _ = h.limit.CapForecast(next.Point[i])
	}
	for j, level := range levels {
		for i, q := range next.Quantile(level) {
			out[i].Quantiles[j], _ = h.limit.CapForecast(q)
		}
	}
	for i, known := range h.known {
		onStep(known, &out[i])
	}
	return out
}
