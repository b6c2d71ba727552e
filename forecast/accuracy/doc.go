// Package accuracy scores forecasts: points by their errors, quantiles and intervals by proper scores and by their
// coverage.
//
//	MAE, RMSE          errors in the units of the series
//	MASE, OWA          relative to a naive method: these compare different series
//	SMAPE              in percent, for series that stay away from 0
//	Pinball, WQL       a quantile, and several, relative to the size of the series
//	Winkler, Coverage  an interval: its width and misses, and the share of hits
//
// Every measure compares step by step and skips the steps where the observation or the forecast is missing (NaN).
// Slices of different length are an error (forecast.ErrParameter), and so is a comparison of which nothing is left
// (forecast.ErrTooShort): a score of nothing is not 0. Smaller is better for all but Coverage.
package accuracy
