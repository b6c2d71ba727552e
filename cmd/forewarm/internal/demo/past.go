package demo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// job is the name of the scrape job.
const job = "demo"

// backfillPast backfills the workload's past with the labels of its scraped series, so that both are one series.
func (s *scene) backfillPast(ctx context.Context, engine *embedded.Engine, instance string, tell *announcer) error {
	begun := tell.clock.Now()
	var all []embedded.BackfillSeries
	samples := 0
	for _, m := range s.metrics {
		for _, series := range m.series {
			past := embedded.BackfillSeries{
				Labels: seriesLabels(m, series, instance),
				Series: s.pastSeries(series, begun),
			}
			samples += past.Series.Observed()
			all = append(all, past)
		}
	}
	if err := engine.Backfill(ctx, embedded.BackfillData{Series: slices.Values(all), Before: begun}); err != nil {
		return fmt.Errorf("backfill the past: %w", err)
	}
	took := tell.clock.Now().Sub(begun)
	tell.print("Backfilled", "%d samples of %d series since %s, in %.1f s",
		samples, len(all), s.from.UTC().Format(time.RFC3339), took.Seconds())
	return nil
}

// pastSeries is a series from the scene's start until now, NaN where it has no sample.
func (s *scene) pastSeries(series timeSeries, now time.Time) forecast.Series {
	out := forecast.Series{Start: s.from, Step: s.backfill}
	for at := s.from; at.Before(now); at = at.Add(s.backfill) {
		value, ok := series.at(at)
		if !ok {
			value = math.NaN()
		}
		out.Values = append(out.Values, value)
	}
	return out
}

// seriesLabels are those of the scraped series.
func seriesLabels(m metric, series timeSeries, instance string) map[string]string {
	out := map[string]string{"__name__": m.name, "job": job, "instance": instance}
	for i, name := range m.labels {
		out[name] = series.values[i]
	}
	return out
}
