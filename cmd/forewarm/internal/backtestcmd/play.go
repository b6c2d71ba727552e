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

// played is how far it came: the folds that every model has gone through, and what the models said in them.
type played struct {
	complete, folds int
	models          []account
}

// account is what a model said, or why it could not.
type account struct {
	entry

	title  string
	tracks []backtest.Track
	err    error
}

// job is a model in a fold, done what it said there.
type (
	job  struct{ fold, model int }
	done struct {
		job

		result backtest.Result
		err    error
	}
)

// play works on several folds at a time, in the order of time, until all are done or the context ends. It does not wait
// for those that are under way then.
func (t *trial) play(ctx context.Context, workers int, bar *progress.Bar) played {
	origins := t.folds()
	folds := len(origins) - 1
	jobs, results := make(chan job), make(chan done, folds*len(t.models))
	for range workers {
		go func() {
			for j := range jobs {
				result, err := t.fold(t.models[j.model], origins[j.fold], origins[j.fold+1])
				results <- done{j, result, err}
			}
		}()
	}
	go t.handOut(ctx, folds, jobs)
	board := newBoard(t.models, folds)
	bar.Begin("backtest", folds*len(t.models))
	defer bar.End()
	for range folds * len(t.models) {
		select {
		case <-ctx.Done():
			return board.sum()
		case d := <-results:
			board.take(d)
			bar.Add(1)
			bar.Now(fmt.Sprintf("fold %d of %d, %s", d.fold+1, folds, t.models[d.model].name))
		}
	}
	return board.sum()
}

// handOut gives out the jobs, fold by fold.
func (t *trial) handOut(ctx context.Context, folds int, jobs chan<- job) {
	defer close(jobs)
	for fold := range folds {
		for model := range t.models {
			select {
			case <-ctx.Done():
				return
			case jobs <- job{fold, model}:
			}
		}
	}
}

// fold fits a model at an origin and leads it on to the last one before the end.
func (t *trial) fold(e entry, origin, end int) (backtest.Result, error) {
	farthest := t.horizons[len(t.horizons)-1]
	from := max(0, origin-t.steps(window))
	return backtest.Run(t.series.Slice(from, end-1+farthest), backtest.Options{
		Horizons: t.horizons, Quantiles: levels(), First: origin - from, Stride: t.stride,
	}, e.model(t.plan))
}

// board collects what is done, in any order.
type board struct {
	models []account
	tracks [][][]backtest.Track // by model and fold; nil is not done
}

func newBoard(models []entry, folds int) *board {
	b := &board{}
	for _, e := range models {
		b.models = append(b.models, account{entry: e, title: e.name})
		b.tracks = append(b.tracks, make([][]backtest.Track, folds))
	}
	return b
}

// take notes a fold of a model. One that cannot be fitted once is out: the others are not to be judged by fewer values.
func (b *board) take(d done) {
	if d.err != nil {
		if b.models[d.model].err == nil {
			b.models[d.model].err = d.err
		}
		return
	}
	b.models[d.model].title = d.result.Model
	b.tracks[d.model][d.fold] = d.result.Tracks
}

// sum joins the folds that are done by all models.
func (b *board) sum() played {
	out := played{models: b.models, folds: len(b.tracks[0])}
	for out.complete < out.folds && b.done(out.complete) {
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

func (b *board) done(fold int) bool {
	for i, m := range b.models {
		if m.err == nil && b.tracks[i][fold] == nil {
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
