// Package forecast forecasts an evenly spaced series of demand: point forecasts and their uncertainty, step by step.
//
// A Model is unfitted: parameters and structure, no data. Fit returns a Fitted, which holds the state after the last
// observation; it forecasts, and takes new observations one at a time in constant time. They are two types, so that
// code that forecasts before fitting does not compile.
//
//	model := smoothing.HoltWinters{Period: 24}
//	fitted, err := model.Fit(series)
//	if err != nil { … }
//	next := fitted.Forecast(12)            // 12 steps ahead, with standard errors
//	upper := next.Quantile(0.95)           // the 95 % quantile of each step
//	fitted.Update(y)                       // one more observation; NaN means missing
//
// The package and everything below it is pure: no clock, no I/O, no logging, no goroutine, no lock. A series carries
// its own time grid. A missing observation is NaN, never 0.
//
// # Where to begin
//
// Start with ensemble.Auto: it fits the models that suit the series, weights them by their past errors, and calibrates
// quantiles. To learn how it works, read the packages in this order:
//
//  1. Package forecast, this one: Series, Model, Fitted, Forecast.
//  2. Package naive: the baselines that every model must beat. Package accuracy scores a forecast, and package backtest
//     scores a model by rolling origin.
//  3. Package smoothing: exponential smoothing of a level, a trend and a season; smoothing/ets is the same with a
//     likelihood, by which it selects a model. Package theta smooths a level and follows a part of the series' line.
//     Package intermittent is for series that are often 0.
//  4. Package arima: weighted sums of recent values and recent errors. Package autoregress is a simpler and faster
//     autoregression; package direct has a regression for each horizon, by package quantreg.
//  5. Package decompose: a series as trend, seasons and a remainder, and models that remove seasons for other models.
//     Package transform: models of logarithms.
//  6. Package interval: calibration of quantiles by past errors. Package ensemble combines all of these.
//
// # Which model for which series
//
//	little history                    naive.Last, ensemble.Auto
//	no season, a level that shifts    ensemble.Auto; one model: theta.Theta, naive.Segment
//	many zeros, nights without load   ensemble.Auto; one model: intermittent.TSB
//	load by the minute                ensemble.Auto, with a day as season
//	hours of days and weeks           ensemble.Auto; one model: smoothing.DoubleSeasonal, decompose.Seasonal
//	months, quarters                  ensemble.Auto; one model: ets.Auto, arima.Auto with a Period
//	fill gaps, show seasons           decompose.Interpolate, decompose.MSTL
//
// Package modeltest tests these promises for your own models.
package forecast
