// Package autoregress forecasts a series from its own past by linear regression: the coming value is a weighted sum of
// the values at chosen lags (the last few steps, the same step a day and a week ago, their neighbours), with weights
// estimated by ridge regression (Hoerl & Kennard 1970):
//
//	y(t) = c + w₁·y(t−k₁) + w₂·y(t−k₂) + … + ε(t)
//
// It is a seasonal autoregression without the moving average of a SARIMA and therefore without its likelihood: one pass
// over the series and one small linear system, whatever the length of the seasons. Several seasons cost three lags each.
// The steps after the first are forecast recursively: forecasts take the place of the values that are not known yet.
//
//	model := autoregress.Ridge{Lags: autoregress.SeasonalLags(24, 168)}
package autoregress
