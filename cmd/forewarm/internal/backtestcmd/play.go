package backtestcmd

import (
	"context"
	"fmt"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/progress"
	"github.com/forewarm/forewarm/forecast/backtest"
)

// levels are the quantiles of the window's maximum that are judged; the verdict is about levels[verdictLevel].
func levels() []float64 { return []float64{0.05, 0.5, 0.9, 0.95, 0.99} }

// The indices of levels.
const (
	lowest = iota
	median
	_
	verdictLevel
	highest
)

// trial is a plan and who takes part.
type trial struct {
	plan

	models []entry
}

// played is how far it came: the stretches that every model has gone through, and what the models said in them.
type played struct {
	complete, stretches int
	models              []account
}

// account is what a model said, or why it could not.
type account struct {
	entry

	title  string
	tracks []backtest.Track
	err    error
}

// done is what a model said in a stretch.
type done struct {
	stretch, model int
	result         backtest.Result
	err            error
}

// play leads all models on through one stretch after the other, several at a time, until all are done or the context ends.
// It does not wait for those that are under way then.
func (t *trial) play(ctx context.Context, workers int, bar *progress.Bar) played {
	models := make([]*continued, len(t.models))
	for i, e := range t.models {
		models[i] = &continued{Calibrated: e.model(t.plan)}
	}
	n := len(t.stretches()) - 1
	board := newBoard(t.models, n)
	bar.Begin("backtest", n*len(models))
	defer bar.End()
	for i := range n {
		results := t.lead(ctx, workers, models, i)
		for range models {
			select {
			case <-ctx.Done():
				return board.sum()
			case d := <-results:
				board.take(d)
				bar.Add(1)
				bar.Now(fmt.Sprintf("stretch %d of %d, %s", i+1, n, t.models[d.model].name))
			}
		}
	}
	return board.sum()
}

// lead leads all models on through a stretch.
func (t *trial) lead(ctx context.Context, workers int, models []*continued, stretch int) <-chan done {
	origin, end := t.stretches()[stretch], t.stretches()[stretch+1]
	next, results := make(chan int, len(models)), make(chan done, len(models))
	for i := range models {
		next <- i
	}
	close(next)
	farthest := t.horizons[len(t.horizons)-1]
	for range workers {
		go func() {
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				result, err := backtest.Run(t.series.Slice(0, end-1+farthest), backtest.Options{
					Horizons: t.horizons, Quantiles: levels(), First: origin, Stride: t.stride,
				}, models[i])
				results <- done{stretch, i, result, err}
			}
		}()
	}
	return results
}

// board collects what is done, in any order.
type board struct {
	models []account
	tracks [][][]backtest.Track // by model and stretch; nil is not done
}

func newBoard(models []entry, stretches int) *board {
	b := &board{}
	for _, e := range models {
		b.models = append(b.models, account{entry: e, title: e.name})
		b.tracks = append(b.tracks, make([][]backtest.Track, stretches))
	}
	return b
}

// take notes a stretch of a model. One that cannot be fitted is out: the others are not to be judged by fewer values.
func (b *board) take(d done) {
	if d.err != nil {
		if b.models[d.model].err == nil {
			b.models[d.model].err = d.err
		}
		return
	}
	b.models[d.model].title = d.result.Model
	b.tracks[d.model][d.stretch] = d.result.Tracks
}

// sum joins the stretches that are done by all models.
func (b *board) sum() played {
	out := played{models: b.models, stretches: len(b.tracks[0])}
	for out.complete < out.stretches && b.done(out.complete) {
		out.complete++
	}
	for i := range out.models {
		for _, tracks := range b.tracks[i][:out.complete] {
			if out.models[i].err == nil {
				out.models[i].tracks = joined(out.models[i].tracks, tracks)
			}
		}
	}
	return out
}

func (b *board) done(stretch int) bool {
	for i, m := range b.models {
		if m.err == nil && b.tracks[i][stretch] == nil {
			return false
		}
	}
	return true
}

// joined are tracks one after the other, horizon by horizon.
func joined(before, after []backtest.Track) []backtest.Track {
	if before == nil {
		before = make([]backtest.Track, len(after))
		for i, track := range after {
			before[i] = backtest.Track{
				Horizon: track.Horizon, HighestQuantile: make([][]float64, len(track.HighestQuantile)),
			}
		}
	}
	for i, track := range after {
		b := &before[i]
		b.Actual, b.Point = append(b.Actual, track.Actual...), append(b.Point, track.Point...)
		b.Highest = append(b.Highest, track.Highest...)
		for q := range track.HighestQuantile {
			b.HighestQuantile[q] = append(b.HighestQuantile[q], track.HighestQuantile[q]...)
		}
	}
	return before
}
