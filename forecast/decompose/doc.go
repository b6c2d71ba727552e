// Package decompose splits a series into a trend, seasons and a remainder, and forecasts it by these parts.
//
// STL does it for one season by local regression (loess; Cleveland et al. 1990), MSTL for several by turns (Bandara,
// Hyndman & Bergmeir 2021). What a Decomposition holds adds up to the series:
//
//	y(t) = trend(t) + season₁(t) + season₂(t) + … + remainder(t)
//
// and how much of the series is trend or season its TrendStrength and SeasonalStrength say. Interpolate fills gaps by it.
//
// Seasonal and Profile are models: they take seasons off the series for any other model, and put them on its forecast.
// Seasonal's come from an MSTL, for up to a few hundred steps a season. Profile's is a day, or a week of days, of many
// noisy steps: medians over the days, which must prove their worth before they are believed.
//
//	hours := decompose.Seasonal{Periods: []int{24, 168}, Model: ets.Auto{}}
//	minutes := decompose.Profile{Model: arima.Auto{}}
//
// Nothing here takes spikes out of a series: STL and MSTL can keep them out of the seasons (Robust), but they are what an
// autoscaler is there for, and stay in the remainder.
package decompose
