// Package ensemble forecasts any series: Auto fits the models that suit it, weighs them by how they turned out, and
// calibrates quantiles of every step, and of the maximum over the steps ahead, by the errors that were made.
//
//	auto := ensemble.Auto{Seasons: []int{24, 168}, Horizon: 48}
//	fitted, err := auto.Estimate(series)
//	if err != nil { … }
//	next := fitted.Forecast(48)              // points, standard errors, calibrated marginals
//	peak := fitted.MaxQuantile(15, 0.95)     // not passed within 15 steps, with 95 %
//	fitted.Update(y)                         // one more observation: scored, weighed, calibrated
//	for _, c := range fitted.Reasons().Candidates { … }
//
// # Members
//
// The last value is always among them, so that nothing is lost on a random walk but what its rivals cost to find out.
// Beside it stand smoothing of several speeds, autoregressions by ridge regression on the newest lags and on those of
// the seasons, in levels, in logarithms and around a profile, and the seasonal naive. Where the season is short, ETS,
// Holt-Winters, a SARIMA and double-seasonal smoothing join them; where it is a day of minutes, direct median regressions
// for each horizon, the profile of the day and ARIMA. What is too costly for the length of the series is left out by an
// estimate of arithmetic, not by a clock: replicas must agree. In the place of what was left out, and beside the others on
// series of a few hundred steps, come models of the seasonally adjusted series (MSTL); on the latter also SARIMA with an
// order that is sought, and ETS and Holt-Winters that multiply.
//
// # Weights
//
// Each member is scored at each horizon by its trailing mean absolute error, and weighs as the inverse of that error to a
// power: between choosing the best and the plain mean (Bates & Granger 1969 weigh by the inverse square; sharper weights
// forget a failing member sooner). The power is the higher the more independent errors are known; those of forecasts that
// overlap are not. A horizon at which few errors are known is judged by those around it, too. The trailing mean is the
// hysteresis. What the mean of the members still misses is learnt by a regression of its errors on how far each of them
// stood from it, strongly drawn to nothing (in the spirit of the quantile regression averaging of Nowotarski & Weron 2015).
// After the end of the series, which Fit holds out, the last value and those that weighed most live on: five where 48
// horizons are scored, more where fewer are.
//
// # Quantiles
//
// Online split conformal inference (Vovk, Gammerman & Shafer 2005): the p-quantile is the point plus the p-quantile of the
// past errors, each in a unit of its time. Several units are tried, and weigh by the pinball loss of the quantiles they
// gave. The level asked for adapts to the coverage that was reached (Gibbs & Candès 2021). Errors are out of sample from
// the beginning: Fit holds the end of the series out and replays it through the scoring that live values take. Only the
// weights at the beginning of that replay have seen it; quantiles are widened a little for it while errors are few.
package ensemble
