// Package decompose splits a series into a trend, seasons and a remainder, and forecasts it by these parts.
//
// MSTL does it by local regression (loess; Cleveland et al. 1990) for one season after the other (Bandara, Hyndman &
// Bergmeir 2021). The parts of a Decomposition add up to the series:
//
//	y(t) = trend(t) + season₁(t) + season₂(t) + … + remainder(t)
//
// SeasonalStrength measures how much of the series is season. Interpolate fills gaps by it.
//
// Seasonal and Profile are models: they subtract seasons from the series for another model, and add them to its
// forecast. Those of Seasonal come from an MSTL, for up to a few hundred steps a season. That of Profile is a day, or a
// week of days, of many noisy steps: medians over the days, weighted by how well past days predicted the next.
//
//	hours := decompose.Seasonal{Periods: []int{24, 168}, Model: ets.Auto{}}
//	minutes := decompose.Profile{Model: arima.Auto{}}
//
// Nothing here removes spikes from a series: an autoscaler must serve them.
package decompose
