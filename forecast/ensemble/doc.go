// Package ensemble forecasts any series: Auto fits the models that suit it, weights them by their past errors, and
// calibrates quantiles of every step, and of the maximum over the steps ahead, by past errors.
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
// The last value is always a member, so that on a random walk little is lost. The others are smoothing of several
// speeds, the median of all members, autoregressions by ridge regression on the newest and the seasonal lags (in levels, in logarithms and around
// a profile), and the seasonal naive method. For short seasons ETS, Holt-Winters, a SARIMA and double-seasonal
// smoothing are added; for a day of minutes, direct median regressions for each horizon, the profile of the day and
// ARIMA. Where there is no season, the theta method and the mean of the newest segment compete too; where a fifth of the
// values is 0, models of intermittent demand. Models that are too costly for the length of the series are left out by an estimate of their cost, not by a
// clock, so that all adapter replicas select the same. Models of the seasonally adjusted series (MSTL) replace those,
// and are added on series of a few hundred steps; these also get a SARIMA whose order is searched, and multiplicative
// ETS and Holt-Winters.
//
// # Weights
//
// Each member is scored at each horizon by its trailing mean absolute error. Its weight is the inverse of that error to
// a power, between selecting the best and the plain mean (Bates & Granger 1969 use the inverse square; a higher power
// drops a failing member sooner). The power grows with the number of independent errors; errors of overlapping
// forecasts are not independent. A horizon with few errors also uses those of its neighbours. The trailing mean is the
// hysteresis. A strongly penalised regression of the ensemble's errors on each member's distance from it corrects what
// the mean still misses (in the spirit of the quantile regression averaging of Nowotarski & Weron 2015). After the
// replay of the series' end, which Fit holds out, the last value and the members with the largest weights are kept:
// five where 48 horizons are scored, more where fewer are.
//
// # Quantiles
//
// Online split conformal inference (Vovk, Gammerman & Shafer 2005): the p-quantile is the point plus the p-quantile of
// the past errors, each in a unit of its time. Several units are tried, and weighted by the pinball loss of their
// quantiles. The requested level adapts to the coverage so far (Gibbs & Candès 2021). Errors are out of sample from the
// start: Fit holds out the end of the series and replays it through the scoring of live values. The fewer of the errors
// are independent, the nearer the median is to the point. Quantiles of steps whose slot of the day is often 0 are 0 up to
// the probability of it. Only the weights at the
// start of that replay have seen it; quantiles are widened a little for that while errors are few.
package ensemble
