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

// job is the name under which the workload is scraped.
const job = "demo"

// fill writes what the workload would have shown until now, with the labels that its scraped series carry, so that the
// one goes on as the other.
func (s *scene) fill(ctx context.Context, engine *embedded.Engine, instance string, tell *announcer) error {
	begun := tell.clock.Now()
	var all []embedded.Past
	samples := 0
	for _, m := range s.metrics {
		for _, series := range m.series {
			past := embedded.Past{Labels: labels(m, series, instance), Series: s.past(series, begun)}
			samples += past.Series.Observed()
			all = append(all, past)
		}
	}
	if err := engine.Backfill(ctx, embedded.Backlog{Series: slices.Values(all), Before: begun}); err != nil {
		return fmt.Errorf("write the past: %w", err)
	}
	took := tell.clock.Now().Sub(begun)
	tell.say("Backfilled", "%d samples of %d series since %s, in %.1f s",
		samples, len(all), s.from.UTC().Format(time.RFC3339), took.Seconds())
	return nil
}

// past is a series from the scene's beginning until now, NaN where it has no sample.
func (s *scene) past(series timeSeries, now time.Time) forecast.Series {
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

// labels are those that a scraped series has.
func labels(m metric, series timeSeries, instance string) map[string]string {
	out := map[string]string{"__name__": m.name, "job": job, "instance": instance}
	for i, name := range m.labels {
		out[name] = series.values[i]
	}
	return out
}
