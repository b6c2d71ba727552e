// Package windowpeak forecasts the window peak: the maximum of a demand over the lead window, the time that a new replica
// takes to be ready and a little more. Several candidates stand beside each other, each scored only on what it has not
// seen.
//
//	sample ──> Features: O(1) summaries of the past, each in the demand's unit (features.go)
//	       ──> baselines: the last value, running maxima, the last season (catalogue.go)
//	       ──> models on the means of blocks: SES, Holt, Holt-Winters, ARIMA, the ensemble (blocks.go), fitted when the
//	           history has grown fourfold, and every three days
//	       ──> the pooled quantile regression that reads the others (regression.go)
//	       ──> Peak: the median, and a spread: how far such forecasts went wrong of late (candidate.go)
//	       ──> what came, in parts of the spread: conformal scores, quantiles, pinball loss, coverage (scores.go)
//
// The spread is a candidate's unit. What is learnt in it, quantiles here and the headroom multiplier in package outcome,
// survives a change of the demand's level. Every feature is homogeneous of degree 1: a demand twice as large has features
// twice as large, so that what was learnt on other workloads holds for any unit.
//
// There is no clock: time is the number of steps, and the state is a function of the samples.
package windowpeak
