// Package decompose splits a series into a trend, seasons and a remainder, and forecasts it by these parts.
//
// STL does it for one season by local regression (loess; Cleveland et al. 1990), MSTL for several seasons in turn
// (Bandara, Hyndman & Bergmeir 2021). The parts of a Decomposition add up to the series:
//
//	y(t) = trend(t) + season₁(t) + season₂(t) + … + remainder(t)
//
// TrendStrength and SeasonalStrength measure how much of the series is trend or season. Interpolate fills gaps by it.
//
// Seasonal and Profile are models: they subtract seasons from the series for another model, and add them to its
// forecast. Those of Seasonal come from an MSTL, for up to a few hundred steps a season. That of Profile is a day, or a
// week of days, of many noisy steps: medians over the days, weighted by how well past days predicted the next.
//
//	hours := decompose.Seasonal{Periods: []int{24, 168}, Model: ets.Auto{}}
//	minutes := decompose.Profile{Model: arima.Auto{}}
//
// Nothing here removes spikes from a series: STL and MSTL can keep them out of the seasons (Robust), but an autoscaler
// must serve them, so they stay in the remainder.
package decompose
