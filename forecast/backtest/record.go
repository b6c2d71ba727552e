package backtest

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
)

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
