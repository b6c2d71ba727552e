// Package naive forecasts without a model of the series: it goes on as it is, or as it was a season ago.
//
// The methods have nothing to estimate but the size of their errors, need hardly any history and cannot run away. They
// are what every model must beat, and what serves until one does.
//
// The standard errors are Gaussian: those of a random walk grow with √h, those of a seasonal random walk by whole
// seasons (Hyndman & Athanasopoulos 2021, §5.5).
package naive
