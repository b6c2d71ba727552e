package embedded

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
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

// ErrOverlap says that a backfill lies over history that is there already. Nothing was written.
var ErrOverlap = errors.New("history is there already")

// stagingDir is where blocks wait until the last of a backfill is written. The storage does not look into it.
const stagingDir = "backfill"

// Past is the recorded samples of one series, on an even grid. NaN ends the series until the next value, as a target
// that does not answer would.
type Past struct {
	// Labels of the series with its name under __name__. Live samples of the same labels go on from these.
	Labels map[string]string
	Series forecast.Series
}

// Backlog is what a backfill writes.
type Backlog struct {
	// Series is ranged over once for every block, and once more before: it must yield the same each time, in any order.
	Series iter.Seq[Past]
	// Before bounds the samples: pass the present. Samples at or after it would keep live ones out.
	Before time.Time
	// Progress, if any, is called after every block with the number of steps written and of all.
	Progress func(done, total int)
}

// Backfill writes recorded history beside what is there, all of it or nothing, and returns when it can be queried.
// History that lies over existing samples is refused with ErrOverlap; what is older than the retention goes at once.
func (e *Engine) Backfill(ctx context.Context, b Backlog) error {
	span, err := measure(b)
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
	if err = vacant(db, span); err != nil {
		return fmt.Errorf("backfill: %w", err)
	}
	staging := filepath.Join(e.cfg.Dir, stagingDir)
	if err = os.Mkdir(staging, 0o750); err != nil {
		return fmt.Errorf("backfill: is another one under way? %w", err)
	}
	err = e.stage(ctx, b, span, staging)
	if err == nil {
		err = publish(db, staging, span)
	}
	if err = errors.Join(err, os.RemoveAll(staging)); err != nil {
		return fmt.Errorf("backfill: %w", err)
	}
	return nil
}

// span is the extent of a backlog: first and last time in milliseconds, and the number of steps of all series.
type span struct {
	first, last int64
	total       int
}

// measure checks every series and finds the extent.
func measure(b Backlog) (span, error) {
	s := span{first: math.MaxInt64, last: math.MinInt64}
	for past := range b.Series {
		name := past.Labels[model.MetricNameLabel]
		if past.Series.Len() == 0 {
			continue
		}
		if past.Series.Step < time.Millisecond {
			return s, fmt.Errorf("series %s: step %v, want at least 1ms", name, past.Series.Step)
		}
		if !model.UTF8Validation.IsValidMetricName(name) {
			return s, fmt.Errorf("series %v: want a name under %s", past.Labels, model.MetricNameLabel)
		}
		for label := range maps.Keys(past.Labels) {
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

// vacant refuses a span that lies over a block or over samples in memory.
func vacant(db *tsdb.DB, s span) error {
	taken := func(first, last int64) error {
		return fmt.Errorf("%s to %s over %s to %s: %w: use an empty directory, or end the backfill before it",
			stamp(s.first), stamp(s.last), stamp(first), stamp(last), ErrOverlap)
	}
	for _, b := range db.BlockMetas() {
		if s.first < b.MaxTime && b.MinTime <= s.last { // A block's end is not part of it.
			return taken(b.MinTime, b.MaxTime)
		}
	}
	if head := db.Head(); head.NumSeries() > 0 && head.OverlapsClosedInterval(s.first, s.last) {
		return taken(head.MinTime(), head.MaxTime())
	}
	return nil
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// stage writes the blocks, one per aligned block range.
func (e *Engine) stage(ctx context.Context, b Backlog, s span, dir string) error {
	done, length := 0, e.cfg.blockRange()
	for from := s.first - mod(s.first, length); from <= s.last; from += length {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := e.block(ctx, b, window{from: from, to: from + length}, dir)
		if err != nil {
			return err
		}
		if done += n; n > 0 && b.Progress != nil {
			b.Progress(done, s.total)
		}
	}
	return nil
}

// mod is the remainder that is never negative, so that times before 1970 align too.
func mod(a, b int64) int64 { return ((a % b) + b) % b }

// window is [from, to) in milliseconds.
type window struct{ from, to int64 }

// block writes the part of the backlog that lies in the window, and tells how many steps that is.
func (e *Engine) block(ctx context.Context, b Backlog, w window, dir string) (steps int, err error) {
	// The writer takes no sample that is older than the newest by half a block; twice the length takes all.
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

// appendPart writes the steps of one series that lie in the window. The first NaN after a value is a stale marker; the
// others are nothing.
func appendPart(to storage.Appender, past Past, w window) (steps, written int, err error) {
	s, lset := past.Series, labels.FromMap(past.Labels)
	var ref storage.SeriesRef
	for i := firstAt(s, w.from); i < s.Len(); i++ {
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
			return 0, 0, fmt.Errorf("series %s at %s: %w", lset, stamp(at), err)
		}
		written++
	}
	return steps, written, nil
}

// firstAt is the first step at or after a time in milliseconds.
func firstAt(s forecast.Series, ms int64) int {
	ahead := time.UnixMilli(ms).Sub(s.Start)
	if ahead <= 0 {
		return 0
	}
	return int((ahead + s.Step - 1) / s.Step)
}

// publish moves the staged blocks into the storage and makes it see them.
func publish(db *tsdb.DB, staging string, s span) error {
	blocks, err := os.ReadDir(staging)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if err := os.Rename(filepath.Join(staging, b.Name()), filepath.Join(db.Dir(), b.Name())); err != nil {
			return err
		}
	}
	// The storage looks for blocks when it has moved samples from memory to disk. There are none in the span, as vacant
	// has seen, so that moving those looks for blocks and does nothing else.
	return db.CompactHead(tsdb.NewRangeHead(db.Head(), s.first, s.last))
}
