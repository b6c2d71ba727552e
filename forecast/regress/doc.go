// Package regress turns the step and the time of an observation into regressors: a drift, the waves of a season, events
// that come again. They are functions of the calendar alone, so that a forecast needs no future input. Package arima
// estimates their coefficients.
package regress
