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

// maxHours is the number of hours that are kept: a little more than two weeks, which is the default history. A season of a week is not used
// to forecast the next day, because the ensemble would need 19 days for it.
const maxHours = 15 * 24

// Hours are the means of the demand over the last hours, and what is needed to forecast the next ones.
type Hours struct {
	means   forecast.Series
	seasons []time.Duration
	limit   demand.Limit
	// known is what is known in advance about each of the next hours; nil if nothing is known.
	known []adjust.Effect
}

// Hours returns the hours that are known now. The result does not change when the forecaster steps.
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

// Means returns the known means, each at the time of its end, without the effects of events. The caller must not change them.
func (h Hours) Means() forecast.Series { return h.means }

// day returns the number of means in a day.
func (h Hours) day() int { return int((windowpeak.Day + h.means.Step - 1) / h.means.Step) }

// hour returns the beginning of the i-th future mean.
func (h Hours) hour(i int) time.Time { return h.means.End().Add(time.Duration(i-1) * h.means.Step) }

// NextDay forecasts the mean demand in each of the next 24 hours with the ensemble (package ensemble), which finds the shape of the day. It
// is nil until a whole day is known.
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
		return nil // All means are gaps.
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
