package backtest

import (
	"errors"
	"fmt"

	"github.com/forewarm/forewarm/forecast"
)

// Run scores one model. Errors: those of Validate; forecast.ErrTooShort where the series ends before the farthest
// horizon of the first origin; the model's own, with the origin at which it could not be fitted.
func Run(s forecast.Series, o Options, model forecast.Model) (Result, error) {
	if err := o.Validate(); err != nil {
		return Result{}, err
	}
	g, err := o.grid(s.Len())
	if err != nil {
		return Result{}, err
	}
	r := run{series: s, options: o, grid: g, model: model, tracks: tracks(o, g.origins)}
	r.observe()
	failures := make([]error, g.folds())
	each := o.Each
	if each == nil {
		each = oneByOne
	}
	each(g.folds(), func(i int) { failures[i] = r.fold(i) })
	if err := errors.Join(failures...); err != nil {
		return Result{}, fmt.Errorf("backtest: %w", err)
	}
	return Result{
		Model: model.Name(), Fits: g.folds(), Origins: g.origins, Tracks: r.tracks,
		train: s.Values[:o.First], options: o,
	}, nil
}

func oneByOne(n int, fold func(i int)) {
	for i := range n {
		fold(i)
	}
}

// run is a backtest of one model. Its folds write to origins of their own in the tracks.
type run struct {
	series  forecast.Series
	options Options
	grid    grid
	model   forecast.Model
	tracks  []Track
}

// observe fills in what came.
func (r run) observe() {
	for _, track := range r.tracks {
		for i := range track.Actual {
			origin := r.grid.origin(i)
			track.Actual[i] = r.series.Values[origin+track.Horizon-1]
			track.Peak[i] = highest(r.series.Values[origin : origin+track.Horizon])
		}
	}
}

// fold fits the model before its first origin and leads it on to its last.
func (r run) fold(number int) error {
	begin := number * r.grid.perFold
	end := min(begin+r.grid.perFold, r.grid.origins)
	seen := r.grid.origin(begin)
	from := 0
	if r.options.Window > 0 {
		from = max(seen-r.options.Window, 0)
	}
	fitted, err := r.model.Fit(r.series.Slice(from, seen))
	if err != nil {
		return fmt.Errorf("fit at origin %d: %w", seen, err)
	}
	for i := begin; i < end; i++ {
		for ; seen < r.grid.origin(i); seen++ {
			fitted.Update(r.series.Values[seen])
		}
		r.recordForecasts(fitted, i)
	}
	return nil
}
