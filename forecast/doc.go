// Package forecast forecasts an evenly spaced series of demand: point forecasts and their uncertainty, step by step.
//
// A Model is not fitted: it has parameters and a structure, but no data. Fit returns a Fitted, which has the state after the last
// observation. A Fitted forecasts, and accepts new observations one at a time in constant time. They are two types, so that code that
// forecasts before fitting does not compile. The package's example shows both.
//
// # Which model for what
//
//	any series, no time to choose       ensemble.Auto
//	a baseline to compare with          naive.Last, naive.Seasonal
//	hours of days and weeks             autoregress.Ridge with SeasonalLags, in transform.Log
//	a level, a trend, one season        smoothing.SES, smoothing.Holt, smoothing.HoltWinters
//	no season, correlated errors        arima.Auto
//	several seasons that change slowly  decompose.Seasonal with arima.Auto
//	a quantile from many features       quantreg.Regression
//	demand that is never negative       forecast.NonNegative around any of them (ensemble.Auto does it itself)
//	to fill gaps, to show the seasons   decompose.Interpolate, decompose.MSTL
//
// Package accuracy scores a forecast, package backtest scores a model with a rolling origin, and package interval turns past errors into
// quantiles. Package modeltest checks that your own models keep the contract of Model.
//
// This package and all packages below it are pure: they use no clock, no I/O, no logging, no goroutines and no locks. A series carries its
// own time grid. A missing observation is NaN, never 0.
package forecast
