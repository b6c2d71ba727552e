// Package windowpeak forecasts the window peak: the maximum of demand over the lead window, the time that a new replica takes
// to be ready plus the delays around it. Several candidates forecast side by side, each scored on data that it has not seen.
//
//	sample ──> features: O(1) summaries of the past, each in the demand's unit (features.go)
//	       ──> baselines: the last value, running maximum, last season, last week (catalogue.go)
//	       ──> models on the means of blocks: SES, Holt, Holt-Winters, ARIMA, the ensemble (blockmodel.go), refitted each time
//	           the history has grown fourfold
//	       ──> the pooled quantile regression, which reads models' forecasts as features (regression.go)
//	       ──> Peak: the median, and a spread: how far such forecasts were off lately (candidate.go)
//	       ──> actual peaks in units of the spread: conformal scores, quantiles, pinball loss, coverage (scores.go)
//
// The spread is a candidate's unit. Quantiles here and the headroom multiplier of package objective are in this unit, so that
// they survive a change of the demand's level. Every feature is homogeneous of degree 1: a demand twice as large has features
// twice as large, so that priors from other workloads hold in any unit.
//
// Time is the number of steps, and the state depends only on the samples.
package windowpeak
