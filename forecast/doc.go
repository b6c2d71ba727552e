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
// Models live in sub-packages by subject: naive, smoothing, autoregress and arima; ensemble brings them together, chooses
// and calibrates; accuracy scores them; interval calibrates what they say by what came.
package forecast
