// Package backtest scores a model by rolling origin: it replays a series to the model, and compares the forecasts at
// each origin with the values after it (Tashman 2000; Hyndman & Athanasopoulos 2021, §5.10).
//
//	options := backtest.Options{
//		Horizons: []int{1, 12}, Quantiles: []float64{0.05, 0.95}, First: 96, Refit: 12, Period: 12,
//	}
//	result, err := backtest.Run(series, options, smoothing.HoltWinters{Period: 12})
//
// The model is fitted to the values before the first origin. From then on it gets one value at a time by Update, as in
// production; every Refit steps it is refitted, to all values so far or to the newest Window values. No value reaches a
// model before its time.
//
// A score alone means little: run the last value and the seasonal naive method on the same origins as well.
//
// The folds, which are the stretches between fits, are independent. Options.Each is the caller's executor, which may
// run several at once; the result is the same to the bit.
package backtest

import (
	"errors"
	"fmt"
	"math"
	"slices"

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

// Options configure a backtest: the origins, and what is scored at each.
type Options struct {
	// Horizons are the steps ahead that are scored, 1 or more each.
	Horizons []int
	// Quantiles are the levels that are scored, each between 0 and 1. Levels p and 1−p are scored as an interval too.
	// May be empty.
	Quantiles []float64
	// First is the first origin: how many values the first fit sees, 1 or more.
	First int
	// Stride is the distance from origin to origin in steps; 0 means 1.
	Stride int
	// Refit is the distance from fit to fit in steps, rounded down to whole strides; 0 means that the first fit is used
	// to the end, with Updates only.
	Refit int
	// Window is the most values that a fit sees, the newest ones; 0 means all.
	Window int
	// Period is the season that scales MASE; 0 or 1 means none.
	Period int
	// Each calls fold(0) … fold(n−1), in any order and possibly at once, and returns when all are done. Nil means one
	// after the other. Concurrent folds need models whose Fit is safe for concurrent use; those of this library are.
	Each func(n int, fold func(i int))
}

// Validate returns all that is wrong, wrapping forecast.ErrParameter.
func (o Options) Validate() error {
	var problems []error
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("backtest: "+format+": %w", append(args, forecast.ErrParameter)...))
	}
	if len(o.Horizons) == 0 {
		wrong("no horizon")
	}
	for _, h := range o.Horizons {
		if h < 1 {
			wrong("horizon %d, expected 1 or more", h)
		}
	}
	for _, p := range o.Quantiles {
		if !(p > 0 && p < 1) {
			wrong("quantile %v, expected a value between 0 and 1", p)
		}
	}
	if o.First < 1 {
		wrong("first origin %d, expected 1 or more", o.First)
	}
	for _, field := range []struct {
		name  string
		value int
	}{{"stride", o.Stride}, {"refit", o.Refit}, {"window", o.Window}, {"period", o.Period}} {
		if field.value < 0 {
			wrong("%s %d, expected 0 or more", field.name, field.value)
		}
	}
	return errors.Join(problems...)
}

// grid is where the origins of a series lie. An origin is the number of values that came before it.
type grid struct {
	first, stride, origins int
	// perFold is the number of origins from fit to fit.
	perFold int
}

// grid keeps every horizon's value within the series, so that all horizons are scored on the same origins.
func (o Options) grid(n int) (grid, error) {
	room := n - slices.Max(o.Horizons) - o.First
	if room < 0 {
		return grid{}, fmt.Errorf("backtest: %d values, expected at least %d before the first origin and %d after "+
			"it: %w", n, o.First, slices.Max(o.Horizons), forecast.ErrTooShort)
	}
	g := grid{first: o.First, stride: max(o.Stride, 1)}
	g.origins = room/g.stride + 1
	g.perFold = g.origins
	if o.Refit > 0 {
		g.perFold = min(max(o.Refit/g.stride, 1), g.origins)
	}
	return g, nil
}

func (g grid) folds() int { return (g.origins + g.perFold - 1) / g.perFold }

// origin is the i-th origin.
func (g grid) origin(i int) int { return g.first + i*g.stride }

// peakForecaster is an optional method of a Fitted: the p-quantile of the maximum of steps 1 … h. The steps' own quantiles
// do not determine it, because the steps depend on each other.
type peakForecaster interface {
	MaxQuantile(h int, p float64) float64
}

// recordForecasts records the model's forecasts at the i-th origin in the tracks.
func (r run) recordForecasts(fitted forecast.Fitted, i int) {
	next := fitted.Forecast(slices.Max(r.options.Horizons))
	for _, track := range r.tracks {
		track.Point[i] = next.Point[track.Horizon-1]
	}
	knows, known := fitted.(peakForecaster)
	for q, p := range r.options.Quantiles {
		quantiles := next.Quantile(p)
		for _, track := range r.tracks {
			track.Quantile[q][i] = quantiles[track.Horizon-1]
			if known {
				track.PeakQuantile[q][i] = knows.MaxQuantile(track.Horizon, p)
			} else {
				track.PeakQuantile[q][i] = slices.Max(quantiles[:track.Horizon])
			}
		}
	}
}

// highest is the largest value; NaN where one is missing, because the peak may lie in the gap.
func highest(values []float64) float64 {
	out := math.Inf(-1)
	for _, v := range values {
		out = math.Max(out, v) // NaN stays
	}
	return out
}

// tracks are empty tracks for each horizon, in the order of the options.
func tracks(o Options, origins int) []Track {
	out := make([]Track, len(o.Horizons))
	for i, h := range o.Horizons {
		out[i] = Track{
			Horizon: h,
			Actual:  make([]float64, origins), Point: make([]float64, origins), Peak: make([]float64, origins),
			Quantile: table(len(o.Quantiles), origins), PeakQuantile: table(len(o.Quantiles), origins),
		}
	}
	return out
}

func table(rows, columns int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, columns)
	}
	return out
}
