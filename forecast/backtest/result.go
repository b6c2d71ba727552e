package backtest

import (
	"cmp"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast/accuracy"
)

// Result is what a model forecast, and what was observed.
type Result struct {
	// Model is the model's name.
	Model string
	// Fits is the number of times that the model was fitted. Origins is the number of origins at which it forecast.
	Fits, Origins int
	// Tracks are in the order of Options.Horizons.
	Tracks []Track

	train   []float64
	options Options
}

// Track has the results for one horizon. Element i of every slice belongs to the i-th origin. Values that were not observed are NaN.
type Track struct {
	// Horizon is the number of steps from each origin.
	Horizon int
	// Actual is the observed value, and Point is its forecast.
	Actual, Point []float64
	// Quantile has a row for each of Options.Quantiles: forecasts of that quantile of Actual.
	Quantile [][]float64
	// Peak is the highest value from the step after the origin to the horizon; NaN if one of these values is missing. It is the demand for
	// which an autoscaler must have capacity if it cannot start replicas in time.
	Peak []float64
	// PeakQuantile has a row for each of Options.Quantiles: forecasts of that quantile of Peak. They come from the method MaxQuantile(h
	// int, p float64) float64 of the Fitted, if it has this method. Otherwise, they are the highest of the steps' own quantiles, which Peak
	// exceeds more often the less the errors of the steps are correlated.
	PeakQuantile [][]float64
}

// Score summarizes a track, or all tracks. Undefined measures are NaN: all measures if nothing was observed, and MASE if the training
// series repeats exactly.
type Score struct {
	// Horizon is the horizon of the track; 0 for all tracks together.
	Horizon int
	// Count is the number of observed values.
	Count int
	// MAE and RMSE are in the units of the series. MASE is relative to the seasonal naive method one step ahead before the first origin.
	// SMAPE is from 0 to 200.
	MAE, RMSE, MASE, SMAPE float64
	// Quantiles and Peaks are in the order of Options.Quantiles. Peaks are the scores of the forecasts of Peak.
	Quantiles, Peaks []QuantileScore
	// Intervals are the intervals between the levels p and 1−p of Options.Quantiles, the widest first.
	Intervals []IntervalScore
}

// QuantileScore says how good the forecasts of the quantile Level were. Pinball is in the units of the series. Coverage is the share of
// values at or below the forecasts, which should be Level.
type QuantileScore struct {
	Level, Pinball, Coverage float64
}

// IntervalScore says how good the central intervals with the coverage Level were. Winkler is in the units of the series.
type IntervalScore struct {
	Level, Winkler, Coverage float64
}

// Score returns the score of one of the Tracks.
func (r Result) Score(track int) Score { return r.score(r.Tracks[track]) }

// Overall returns the score of all horizons together. Each value at each horizon counts once.
func (r Result) Overall() Score {
	all := Track{
		Quantile:     make([][]float64, len(r.options.Quantiles)),
		PeakQuantile: make([][]float64, len(r.options.Quantiles)),
	}
	for _, track := range r.Tracks {
		all.Actual = append(all.Actual, track.Actual...)
		all.Point = append(all.Point, track.Point...)
		all.Peak = append(all.Peak, track.Peak...)
		for q := range r.options.Quantiles {
			all.Quantile[q] = append(all.Quantile[q], track.Quantile[q]...)
			all.PeakQuantile[q] = append(all.PeakQuantile[q], track.PeakQuantile[q]...)
		}
	}
	return r.score(all)
}

func (r Result) score(t Track) Score {
	out := Score{
		Horizon: t.Horizon,
		MAE:     orNaN(accuracy.MAE(t.Actual, t.Point)),
		RMSE:    orNaN(accuracy.RMSE(t.Actual, t.Point)),
		MASE:    orNaN(accuracy.MASE(t.Actual, t.Point, r.train, max(r.options.Period, 1))),
		SMAPE:   orNaN(accuracy.SMAPE(t.Actual, t.Point)),
	}
	for _, y := range t.Actual {
		if !math.IsNaN(y) {
			out.Count++
		}
	}
	for q, p := range r.options.Quantiles {
		out.Quantiles = append(out.Quantiles, quantileScore(t.Actual, t.Quantile[q], p))
		out.Peaks = append(out.Peaks, quantileScore(t.Peak, t.PeakQuantile[q], p))
		if other := complement(r.options.Quantiles, p); other >= 0 && p < 0.5 {
			out.Intervals = append(out.Intervals, intervalScore(t.Actual, t.Quantile[q], t.Quantile[other], 2*p))
		}
	}
	slices.SortStableFunc(out.Intervals, func(a, b IntervalScore) int { return cmp.Compare(b.Level, a.Level) })
	return out
}

func quantileScore(actual, quantile []float64, p float64) QuantileScore {
	below := make([]float64, len(actual))
	for i := range below {
		below[i] = math.Inf(-1)
	}
	return QuantileScore{
		Level:    p,
		Pinball:  orNaN(accuracy.Pinball(actual, quantile, p)),
		Coverage: orNaN(accuracy.Coverage(actual, below, quantile)),
	}
}

func intervalScore(actual, lower, upper []float64, alpha float64) IntervalScore {
	return IntervalScore{
		Level:    1 - alpha,
		Winkler:  orNaN(accuracy.Winkler(actual, lower, upper, alpha)),
		Coverage: orNaN(accuracy.Coverage(actual, lower, upper)),
	}
}

// complement returns the index of the level 1−p; −1 if there is none.
func complement(levels []float64, p float64) int {
	return slices.IndexFunc(levels, func(q float64) bool { return math.Abs(p+q-1) < 1e-9 })
}

// orNaN returns the value, or NaN if there is an error. The parameters are valid, so an error means that nothing was observed, or that
// there is no scale.
func orNaN(value float64, err error) float64 {
	if err != nil {
		return math.NaN()
	}
	return value
}
