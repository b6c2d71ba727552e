// Package forecaster lives one series' model life: from a history and then sample by sample it makes the distribution of
// the maximum of demand over the lead window, and the decision what to serve.
//
// Several candidates stand beside each other: the free ones (last value, running maximum, same time last season) and the
// fitted ones (exponential smoothing, Holt, Holt-Winters, ARIMA). Every candidate forecasts the maximum over several
// horizons; what came is scored, and the scores calibrate its quantiles (split conformal, adaptive at the served level).
// The gate chooses: a fitted model serves only while it beats the free ones on the loss of the decision itself.
//
// New rebuilds everything from a history alone: the models are fitted on its first part, the last part is replayed
// through the very Step that live samples take, so that scores are out of sample from the start. There is no clock, no
// lock and no goroutine; the same history gives the same state to the last bit.
package forecaster
