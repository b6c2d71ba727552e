// Package forecast turns an evenly spaced series of demand into what comes next: point forecasts and their
// uncertainty, step by step.
//
// A Model is unfitted: parameters and structure, no data. Fit gives a Fitted, which holds the state after the last
// observation; it forecasts, and takes new observations one at a time in constant time. Two types, so that
// forecasting before fitting cannot be written.
//
//	model := smoothing.HoltWinters{Period: 24}
//	fitted, err := model.Fit(series)
//	if err != nil { … }
//	next := fitted.Forecast(12)            // 12 steps ahead, with standard errors
//	upper := next.Quantile(0.95)           // the 95 % quantile of each step
//	fitted.Update(y)                       // one more observation; NaN says it is missing
//
// The package and everything below it is pure: no clock, no I/O, no logging, no goroutine, no lock. Values carry their
// own time grid. A missing observation is NaN, never 0.
//
// # Where to begin
//
// Who wants a forecast takes ensemble.Auto: it fits the models that suit the series, weighs them by how they turned out and
// says by how much they may be wrong. Who wants to know what it does reads on in this order:
//
//  1. Package forecast, this one: Series, Model, Fitted, Forecast.
//  2. Package naive: what every model must beat. With it accuracy, which scores a forecast, and backtest, which scores a
//     model as if it had been in use all along.
//  3. Package smoothing: a level, a trend and a season that learn from every surprise; and smoothing/ets, the same with a
//     likelihood, which chooses among its family.
//  4. Package arima: recent values and recent surprises, weighed; regress has what a series depends on beside its past.
//     Package autoregress is the plain and quick part of it; package direct has a regression for each horizon, of the kind
//     that package quantreg is for.
//  5. Package decompose: a series as trend, seasons and a remainder, and models that take seasons off for other models.
//     Package transform: models on the scale of logarithms and powers. Package diagnose: what a series is like.
//  6. Package interval: what errors say about the next ones. And ensemble, which puts all of it together.
//
// # Which for what
//
//	no history to speak of            naive.Last, ensemble.Auto
//	load by the minute                ensemble.Auto, with the day for a season
//	hours of days and weeks           ensemble.Auto; one model: smoothing.DoubleSeasonal, decompose.Seasonal
//	months, quarters                  ensemble.Auto; one model: ets.Auto, arima.Auto with a Period
//	known events, holidays, batches   arima.Auto with regress.Event
//	a bound not to be passed          ensemble.Fitted.MaxQuantile
//	gaps to fill, seasons to see      decompose.Interpolate, decompose.MSTL
//
// A model of one's own is held to the promises above by package modeltest.
package forecast
