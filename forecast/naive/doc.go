// Package naive forecasts without a model of the series: it goes on as it is, or as it was a season ago.
//
//	Last            the last observation
//	Seasonal        the same step of the last season
//	Deseasonalised  the last observation with the season's factors: the M4 competition's Naive2
//	Max             the highest of the newest observations, a bound rather than a forecast
//
// The methods have nothing to estimate but the size of their errors, need hardly any history and cannot run away. They
// are what every model must beat, and what serves until one does.
//
// The standard errors are Gaussian: those of a random walk grow with √h, those of a seasonal random walk by whole
// seasons (Hyndman & Athanasopoulos 2021, §5.5).
package naive
