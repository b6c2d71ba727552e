// Package windowpeak forecasts the window peak, which is the maximum of demand over the lead window. The lead window is the time that a new
// replica takes to become ready, plus the delays around it. Several candidates forecast in parallel. Each is scored on data that it has not
// seen.
//
//	sample ──> features: O(1) summaries of the past, each in the demand's unit (features.go)
//	       ──> baselines: the last value, running maximum, last season, last week (catalogue.go)
//	       ──> models on the means of blocks: SES, Holt, Holt-Winters, ARIMA, the ensemble (blockmodel.go), refitted each time
//	           the history has grown fourfold
//	       ──> the pooled quantile regression, which reads models' forecasts as features (regression.go)
//	       ──> Peak: the median, and a spread: how far such forecasts were off lately (candidate.go)
//	       ──> actual peaks in units of the spread: conformal scores, quantiles, pinball loss, coverage (scores.go)
//
// A candidate's scores are in units of its spread. Quantiles here and the headroom multiplier of package objective are in this unit, so
// that they remain valid if the level of the demand changes. Every feature is homogeneous of degree 1: if the demand is twice as large, the
// features are twice as large. So priors from other workloads are valid in any unit.
//
// Time is the number of steps, and the state depends only on the samples.
package windowpeak
