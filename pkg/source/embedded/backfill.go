package embedded

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/forewarm/forewarm/forecast"
)

// ErrOverlap means that a backfill overlaps stored history. Nothing was written.
var ErrOverlap = errors.New("the backfill overlaps stored history")

// stagingDir contains the blocks of a backfill until the last one is written. The storage does not read it.
const stagingDir = "backfill"

// BackfillSeries is one series on an even grid. NaN ends it until the next value, as a failed scrape does.
type BackfillSeries struct {
	// Labels of the series with its name under __name__. Live samples with the same labels continue the series.
	Labels map[string]string
	Series forecast.Series
}

// BackfillData is the input of a backfill.
type BackfillData struct {
	// Series is iterated once to check it and once for every block. It must yield the same each time, in any order.
	Series iter.Seq[BackfillSeries]
	// Before bounds the times of samples: pass the current time. Later samples would block live ones.
	Before time.Time
	// Progress, if set, is called after every block with the number of steps written and in total.
	Progress func(done, total int)
}

// Backfill adds recorded history, all of it or nothing, and returns when it can be queried. History that overlaps
// stored samples is refused with ErrOverlap; what is older than the retention is deleted at once.
func (e *Engine) Backfill(ctx context.Context, b BackfillData) error {
	span, err := measureExtent(b)
	if err != nil {
		return fmt.Errorf("backfill: %w", err)
	}
	if span.total == 0 {
		return nil
	}
	db, release, err := e.store.acquire()
	if err != nil {
		return fmt.Errorf("backfill: %w", err)
	}
	defer release()
	if err = checkOverlap(db, span); err != nil {
		return fmt.Errorf("backfill: %w", err)
	}
	staging := filepath.Join(e.cfg.Dir, stagingDir)
	if err = os.Mkdir(staging, 0o750); err != nil {
		return fmt.Errorf("backfill: another backfill may be running: %w", err)
	}
	err = e.writeBlocks(ctx, b, span, staging)
	if err == nil {
		err = publishBlocks(db, staging, span)
	}
	if err = errors.Join(err, os.RemoveAll(staging)); err != nil {
		return fmt.Errorf("backfill: %w", err)
	}
	return nil
}

// extent has the first and the last time of a backfill in milliseconds, and the number of steps of all series.
type extent struct {
	first, last int64
	total       int
}

// measureExtent checks every series and returns their extent.
func measureExtent(b BackfillData) (extent, error) {
	s := extent{first: math.MaxInt64, last: math.MinInt64}
	for past := range b.Series {
		name := past.Labels[model.MetricNameLabel]
		if past.Series.Len() == 0 {
			continue
		}
		if past.Series.Step < time.Millisecond {
			return s, fmt.Errorf("series %s: a step of %v; expected at least 1ms", name, past.Series.Step)
		}
		if !model.UTF8Validation.IsValidMetricName(name) {
			return s, fmt.Errorf(
				"series %v: expected a metric name in the label %s",
				past.Labels,
				model.MetricNameLabel,
			)
		}
		for label := range past.Labels {
			if !model.UTF8Validation.IsValidLabelName(label) {
				return s, fmt.Errorf("series %s: label name %q is not valid", name, label)
			}
		}
		last := past.Series.TimeAt(past.Series.Len() - 1)
		if !last.Before(b.Before) {
			return s, fmt.Errorf("series %s: its last sample at %s is not before %s", name,
				last.UTC().Format(time.RFC3339), b.Before.UTC().Format(time.RFC3339))
		}
		s.first = min(s.first, past.Series.Start.UnixMilli())
		s.last = max(s.last, last.UnixMilli())
		s.total += past.Series.Len()
	}
	return s, nil
}

// checkOverlap rejects a backfill that overlaps a block or samples in memory.
func checkOverlap(db *tsdb.DB, s extent) error {
	taken := func(first, last int64) error {
		return fmt.Errorf("%w: the backfill is from %s to %s, and the stored history from %s to %s: use an empty "+
			"directory, or end the backfill before the stored history", ErrOverlap, formatMillis(s.first),
			formatMillis(s.last), formatMillis(first), formatMillis(last))
	}
	for _, b := range db.BlockMetas() {
		if s.first < b.MaxTime && b.MinTime <= s.last { // The end of a block is exclusive.
			return taken(b.MinTime, b.MaxTime)
		}
	}
	if head := db.Head(); head.NumSeries() > 0 && head.OverlapsClosedInterval(s.first, s.last) {
		return taken(head.MinTime(), head.MaxTime())
	}
	return nil
}

func formatMillis(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// writeBlocks writes the blocks, one per aligned block range.
func (e *Engine) writeBlocks(ctx context.Context, b BackfillData, s extent, dir string) error {
	done, length := 0, e.cfg.blockRange()
	for from := s.first - positiveMod(s.first, length); from <= s.last; from += length {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := e.writeBlock(ctx, b, window{from: from, to: from + length}, dir)
		if err != nil {
			return err
		}
		if done += n; n > 0 && b.Progress != nil {
			b.Progress(done, s.total)
		}
	}
	return nil
}

// positiveMod returns a remainder that is never negative, so that times before 1970 are aligned correctly, too.
func positiveMod(a, b int64) int64 { return ((a % b) + b) % b }

// window is [from, to) in milliseconds.
type window struct{ from, to int64 }

// writeBlock writes the part of the backfill in the window, and returns its number of steps.
func (e *Engine) writeBlock(ctx context.Context, b BackfillData, w window, dir string) (steps int, err error) {
	// The writer rejects samples that are older than the newest one by more than half a block. With a block of twice the length, it accepts
	// all of them.
	writer, err := tsdb.NewBlockWriter(e.logger.With("component", "backfill"), dir, 2*(w.to-w.from))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, writer.Close()) }()
	samples := 0
	for past := range b.Series {
		appender := writer.Appender(ctx)
		n, written, failed := appendPart(appender, past, w)
		if failed != nil {
			return 0, errors.Join(failed, appender.Rollback())
		}
		if failed = appender.Commit(); failed != nil {
			return 0, fmt.Errorf("series %s: %w", past.Labels[model.MetricNameLabel], failed)
		}
		steps, samples = steps+n, samples+written
	}
	if samples == 0 {
		return steps, nil
	}
	_, err = writer.Flush(ctx)
	return steps, err
}

// appendPart writes the steps of one series in the window. The first NaN after a value is a stale marker.
func appendPart(to storage.Appender, past BackfillSeries, w window) (steps, written int, err error) {
	s, lset := past.Series, labels.FromMap(past.Labels)
	var ref storage.SeriesRef
	for i := firstStepAt(s, w.from); i < s.Len(); i++ {
		at := s.TimeAt(i).UnixMilli()
		if at >= w.to {
			break
		}
		steps++
		v := s.Values[i]
		if math.IsNaN(v) {
			if i == 0 || math.IsNaN(s.Values[i-1]) {
				continue
			}
			v = math.Float64frombits(value.StaleNaN)
		}
		if ref, err = to.Append(ref, lset, at, v); err != nil {
			return 0, 0, fmt.Errorf("series %s at %s: %w", lset, formatMillis(at), err)
		}
		written++
	}
	return steps, written, nil
}

// firstStepAt returns the first step at or after a time in milliseconds.
func firstStepAt(s forecast.Series, ms int64) int {
	ahead := max(time.UnixMilli(ms).Sub(s.Start), 0)
	return int((ahead + s.Step - 1) / s.Step)
}

// publishBlocks moves the staged blocks into the storage and makes it load them.
func publishBlocks(db *tsdb.DB, staging string, s extent) error {
	blocks, err := os.ReadDir(staging)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if err := os.Rename(filepath.Join(staging, b.Name()), filepath.Join(db.Dir(), b.Name())); err != nil {
			return err
		}
	}
	// The storage loads new blocks after it has moved samples from memory to disk. This range has no samples in memory (see checkOverlap), so
	// the call only loads the blocks.
	return db.CompactHead(tsdb.NewRangeHead(db.Head(), s.first, s.last))
}
