// Package ensemble forecasts a series of demand from its seasons and horizon alone: it fits a few models that differ in
// kind, ranks them by their errors on the last part of the series, and combines the best three. It does not detect seasons.
//
//	auto := ensemble.Auto{Seasons: []int{24, 168}, Horizon: 48}
//	fitted, err := auto.Fit(series)
//	upper := fitted.Forecast(48).Quantile(0.95)
//
// # Models
//
// There are five candidates. With seasons: the last value, Holt-Winters with a damped trend, a ridge regression on its own
// past around the mean of each step of the season, the same of logarithms, and an ARIMA of the logarithms after STL has
// removed the seasons. Without seasons: the last value, Holt with a damped trend, the ridge regression, an ARIMA, and an
// ARIMA of the logarithms.
//
// # Ranking
//
// Fit holds out the end of the series (at most a third), fits each candidate to what comes before it, and forecasts from the origins in the
// hold-out, feeding the candidate each observation as if it came live. The mean absolute error over all origins and all steps ahead ranks
// the candidates. The best three are fitted again, to the whole series. A forecast is the median of the three, and so is each quantile. So
// a single model with a bad forecast has no influence, and no weights need to be estimated (Petropoulos & Svetunkov 2020, "A simple
// combination of univariate models", also use the median). For a series of fewer than 12 steps, the last value is the forecast.
//
// # Quantiles
//
// The quantiles of a model are its point forecast plus the quantiles of the errors that it made in the hold-out at the same number of steps
// ahead (split conformal inference: Vovk, Gammerman & Shafer 2005). The errors are taken as they are, or relative to the size of the
// forecast, whichever had the smaller loss. If there are fewer than 40, the errors of neighboring horizons are added. Overlapping forecasts
// have similar errors. The fewer independent errors there are, the more weight the model's own standard error gets.
//
// Every quantile is at most one range of the series (highest minus lowest value) above its highest value or below its lowest value. A
// series that has never been negative has no negative forecasts.
package ensemble
