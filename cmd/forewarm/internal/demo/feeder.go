package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// demand are the labels of the demand's series.
func demand() map[string]string {
	return map[string]string{"__name__": "demo_demand", "namespace": namespace}
}

// maxInterval is the largest distance between two samples: that of many scrapers.
const maxInterval = 30 * time.Second

// feeder appends the demand to the engine's store by the demo's clock. A scraper has no clock but life's.
type feeder struct {
	played   *playback
	engine   *embedded.Engine
	interval time.Duration
	// next is the time of the next sample.
	next time.Time
}

// backfill stores the past, and returns what stores the demand from then on.
func backfill(ctx context.Context, engine *embedded.Engine, played *playback, begin time.Time) (*feeder, error) {
	f := &feeder{
		played: played, engine: engine, next: begin,
		interval: min(max(played.Step, time.Second), maxInterval),
	}
	from := played.Start
	if oldest := begin.Add(-maxHistory); from.Before(oldest) { // No Forecast reads beyond the longest history.
		from = oldest
	}
	from = begin.Add(-begin.Sub(from).Truncate(f.interval))
	past := embedded.BackfillSeries{Labels: demand(), Series: played.sampled(from, begin, f.interval)}
	err := engine.Backfill(ctx, embedded.BackfillData{
		Series: slices.Values([]embedded.BackfillSeries{past}), Before: begin,
	})
	return f, err
}

// run appends each sample when it is time, and those that it is late for, until the context ends.
func (f *feeder) run(ctx context.Context, now *clock) error {
	for now.WaitUntil(ctx, f.next) == nil {
		if err := f.engine.Append(ctx, demand(), f.next, f.played.at(f.next)); err != nil && ctx.Err() == nil {
			return fmt.Errorf("store the demand: %w", err)
		}
		f.next = f.next.Add(f.interval)
	}
	return nil
}
