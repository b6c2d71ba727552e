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
	// Fits and Origins count how often the model was fitted and asked.
	Fits, Origins int
	// Tracks are in the order of Options.Horizons.
	Tracks []Track

	train   []float64
	options Options
}

// Track is one horizon: element i of every slice belongs to the i-th origin. What was not observed is NaN.
type Track struct {
	// Horizon is the number of steps from each origin.
	Horizon int
	// Actual is the value that came, Point its forecast.
	Actual, Point []float64
	// Quantile has a row for each of Options.Quantiles: forecasts of that quantile of Actual.
	Quantile [][]float64
	// Peak is the highest of the values from the step after the origin to the horizon, NaN where one of them is
	// missing: what an autoscaler that cannot start a replica in time must have had room for.
	Peak []float64
	// PeakQuantile are forecasts of Highest's quantiles: those of a Fitted with the method
	// MaxQuantile(h int, p float64) float64; for others the highest of the steps' own quantiles stands in, which is
	// exceeded more often the less the steps' errors hang together.
	PeakQuantile [][]float64
}

// Score sums up a track, or all of them. Undefined measures are NaN: all of them where nothing was observed, MASE
// where the training series repeats itself exactly.
type Score struct {
	// Horizon is the track's, or 0 for all of them together.
	Horizon int
	// Count is the number of observed values.
	Count int
	// MAE and RMSE are in the units of the series, MASE is relative to the seasonal naive method one step ahead before
	// the first origin, SMAPE from 0 to 200.
	MAE, RMSE, MASE, SMAPE float64
	// Quantiles and Highest are in the order of Options.Quantiles; Highest is about the window peak.
	Quantiles, Peaks []QuantileScore
	// Intervals are those between the levels p and 1−p of Options.Quantiles, widest first.
	Intervals []IntervalScore
}

// QuantileScore is how good forecasts of the quantile Level were: Pinball in the units of the series, Coverage the
// share of values at or below them, which should be Level.
type QuantileScore struct {
	Level, Pinball, Coverage float64
}

// IntervalScore is how good central intervals of coverage Level were: Winkler in the units of the series.
type IntervalScore struct {
	Level, Winkler, Coverage float64
}

// Score is that of one of the Tracks.
func (r Result) Score(track int) Score { return r.score(r.Tracks[track]) }

// Overall is the score of all horizons together, each value at each horizon counting once.
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

// complement is the index of the level 1−p, or −1.
func complement(levels []float64, p float64) int {
	return slices.IndexFunc(levels, func(q float64) bool { return math.Abs(p+q-1) < 1e-9 })
}

// orNaN is the value, or NaN where there is an error. The parameters are valid, so nothing was observed, or nothing
// to scale by.
func orNaN(value float64, err error) float64 {
	if err != nil {
		return math.NaN()
	}
	return value
}
