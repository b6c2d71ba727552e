// Package decompose splits a series into a trend, seasons and a remainder, and uses these parts to forecast it.
//
// MSTL splits the series by local regression (loess; Cleveland et al. 1990) for one season after the other (Bandara, Hyndman & Bergmeir
// 2021). The parts of a Decomposition add up to the series:
//
//	y(t) = trend(t) + season₁(t) + season₂(t) + … + remainder(t)
//
// SeasonalStrength measures how seasonal a series is. Interpolate fills gaps with the help of the decomposition.
//
// Seasonal is a model: it subtracts the seasons from the series for another model, and adds them to its forecast.
//
//	hours := decompose.Seasonal{Periods: []int{24, 168}, Model: arima.Auto{}}
//
// This package does not remove spikes from a series, because an autoscaler must serve them.
package decompose
