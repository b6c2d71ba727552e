// Package decompose splits a series into a trend, seasons and a remainder, and forecasts it by these parts.
//
// MSTL does it by local regression (loess; Cleveland et al. 1990) for one season after the other (Bandara, Hyndman &
// Bergmeir 2021). The parts of a Decomposition add up to the series:
//
//	y(t) = trend(t) + season₁(t) + season₂(t) + … + remainder(t)
//
// SeasonalStrength measures how much of the series is season. Interpolate fills gaps by it.
//
// Seasonal is a model: it subtracts the seasons from the series for another model, and adds them to its forecast.
//
//	hours := decompose.Seasonal{Periods: []int{24, 168}, Model: arima.Auto{}}
//
// Nothing here removes spikes from a series: an autoscaler must serve them.
package decompose
