package cli

import (
	"context"
	"fmt"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/forecast/backtest"
)

// levels are the quantiles of the window peak that are judged; the verdict is about levels[verdictLevel].
func levels() []float64 { return []float64{0.05, 0.5, 0.9, 0.95, 0.99} }

// The indices of levels.
const (
	lowest = iota
	median
	_
	verdictLevel
	highest
)

// contest is a plan and its models.
type contest struct {
	plan

	models []backtestEntry
}

// played has the stretches that every model has completed, and their results.
type played struct {
	complete, stretches int
	models              []modelResult
}

// modelResult has a model's forecasts, or its error.
type modelResult struct {
	backtestEntry

	title  string
	tracks []backtest.Track
	err    error
}

// stretchResult has a model's forecasts in a stretch.
type stretchResult struct {
	stretch, model int
	result         backtest.Result
	err            error
}

// play leads all models on through one stretch after the other, several at a time, until all are done or the context ends.
// It does not wait for those that are under way then.
func (t *contest) play(ctx context.Context, workers int, bar *cmdline.ProgressBar) played {
	models := make([]*continuedModel, len(t.models))
	for i, e := range t.models {
		models[i] = &continuedModel{BacktestModel: e.model(t.plan)}
	}
	n := len(t.stretches()) - 1
	board := newBoard(t.models, n)
	bar.Begin("backtest", n*len(models))
	defer bar.End()
	for i := range n {
		results := t.playStretch(ctx, workers, models, i)
		for range models {
			select {
			case <-ctx.Done():
				return board.sum()
			case d := <-results:
				board.add(d)
				bar.Add(1)
				bar.SetTask(fmt.Sprintf("part %d of %d, %s", i+1, n, t.models[d.model].name))
			}
		}
	}
	return board.sum()
}

// playStretch leads all models on through a stretch.
func (t *contest) playStretch(
	ctx context.Context, workers int, models []*continuedModel, stretch int,
) <-chan stretchResult {
	origin, end := t.stretches()[stretch], t.stretches()[stretch+1]
	next, results := make(chan int, len(models)), make(chan stretchResult, len(models))
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
				results <- stretchResult{stretch, i, result, err}
			}
		}()
	}
	return results
}

// board collects what is done, in any order.
type board struct {
	models []modelResult
	tracks [][][]backtest.Track // by model and stretch; nil is not done
}

func newBoard(models []backtestEntry, stretches int) *board {
	b := &board{}
	for _, e := range models {
		b.models = append(b.models, modelResult{backtestEntry: e, title: e.name})
		b.tracks = append(b.tracks, make([][]backtest.Track, stretches))
	}
	return b
}

// add notes a stretch of a model. One that cannot be fitted is out: the others are not to be judged by fewer values.
func (b *board) add(d stretchResult) {
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
				out.models[i].tracks = joinedTracks(out.models[i].tracks, tracks)
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

// joinedTracks are tracks one after the other, horizon by horizon.
func joinedTracks(before, after []backtest.Track) []backtest.Track {
	if before == nil {
		before = make([]backtest.Track, len(after))
		for i, track := range after {
			before[i] = backtest.Track{
				Horizon: track.Horizon, PeakQuantile: make([][]float64, len(track.PeakQuantile)),
			}
		}
	}
	for i, track := range after {
		b := &before[i]
		b.Actual, b.Point = append(b.Actual, track.Actual...), append(b.Point, track.Point...)
		b.Peak = append(b.Peak, track.Peak...)
		for q := range track.PeakQuantile {
			b.PeakQuantile[q] = append(b.PeakQuantile[q], track.PeakQuantile[q]...)
		}
	}
	return before
}
