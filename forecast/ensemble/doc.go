// Package ensemble forecasts any series: Auto fits the models that suit it, weights them by their past errors, and
// calibrates quantiles of every step by past errors.
//
//	auto := ensemble.Auto{Seasons: []int{24, 168}, Horizon: 48}
//	fitted, err := auto.Estimate(series)
//	if err != nil { … }
//	next := fitted.Forecast(48)              // points, standard errors, calibrated marginals
//	fitted.Update(y)                         // one more observation: scored, weighed, calibrated
//	for _, c := range fitted.Reasons().Candidates { … }
//
// # Members
//
// The last value is always a member, so that on a random walk little is lost, and so is the median of all others. Beside
// a season compete autoregressions by ridge regression on the newest and the seasonal lags (in logarithms and around a
// profile) and the seasonal naive method; of short seasons also ETS, Holt-Winters and double-seasonal smoothing; of a day
// of minutes the profile of the day with regressions about it. Where there is no season it is smoothing of several speeds, a
// short autoregression, direct regressions for each horizon, the theta method and the mean of the newest segment; where a fifth of the values is 0, models of intermittent demand. Models that are too costly for the
// length of the series are left out by an estimate of their cost, not by a clock, so that all adapter replicas select the
// same. Models of the seasonally adjusted series (MSTL) replace those, and are added on series of a few hundred steps, as
// is a SARIMA whose order is searched.
//
// # Weights
//
// Each member is scored at each horizon by its trailing mean absolute error. Its weight is the inverse of that error to
// a power, between selecting the best and the plain mean (Bates & Granger 1969 use the inverse square; a higher power
// drops a failing member sooner). The power grows with the number of independent errors; errors of overlapping
// forecasts are not independent. A horizon with few errors also uses those of its neighbours. The trailing mean is the
// hysteresis. After the replay of the series' end, which Fit holds out, the last value and the members with the largest
// weights are kept: seven where 48 horizons are scored, more where fewer are.
//
// # Quantiles
//
// Online split conformal inference (Vovk, Gammerman & Shafer 2005): the p-quantile is the point plus the p-quantile of
// the past errors, each in a unit of its time: none, the level, or how much that hour differs from day to day. The units
// are weighted by the pinball loss of their quantiles. Errors are out of sample from the start: Fit holds out the end of
// the series and replays it through the scoring of live values. Forecasts that overlap have errors that are alike; the
// fewer of them are independent, the more the quantiles are those of a distribution about the point. Its shape is that of
// the errors one step ahead and of a Gaussian, its deviation that of the errors and of the members' own account. Quantiles
// of steps whose slot of the day is often 0 are 0 up to the probability of it.
package ensemble
