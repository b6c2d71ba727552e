// Package theta forecasts by the theta method of Assimakopoulos & Nikolopoulos (2000), the simple method that won the M3
// competition: simple exponential smoothing that drifts by half of the slope of the series' straight line (Hyndman &
// Billah 2003). The smoothing minimises the squared one-step errors. Of a series with a season take
// naive.Deseasonalised with a Theta: a season that is significant at 90 % is divided out first and multiplied in again.
//
// The standard errors are those of simple exponential smoothing, σ√(1 + (h−1)α²). A missing value leaves the level where
// it is, and the errors go on widening.
package theta
