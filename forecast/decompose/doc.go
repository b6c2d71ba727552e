// Package decompose splits a series into a trend, seasons and a remainder, and forecasts it by these parts.
//
// STL does it for one season by local regression (loess; Cleveland, Cleveland, McRae & Terpenning 1990), MSTL for
// several by turns (Bandara, Hyndman & Bergmeir 2021). What a Decomposition holds adds up to the series.
package decompose
