// Package theta forecasts by the theta method of Assimakopoulos & Nikolopoulos (2000), the simple method that won the M3
// competition: the series is smoothed exponentially, and drifts by a part of the slope of its straight line.
//
// Standard has half of the slope, which is simple exponential smoothing with drift (Hyndman & Billah 2003). Optimised
// estimates the part, Dynamic follows the line as it moves with each observation (both: Fiorucci, Pellegrini, Louzada,
// Petropoulos & Koehler 2016). With l the level, θ the bend of the theta line, and a + b·t the straight line,
//
//	y[t] = l[t−1] + (1 − 1/θ)·{(1−α)^(t−1)·a + (1 − (1−α)^t)/α·b} + e[t]
//	l[t] = α·y[t] + (1−α)·l[t−1]
//
// where θ = 1 is simple exponential smoothing, and a higher θ the more of the line. Parameters and the first level
// minimise the squared one-step errors, which are linear in the first level and in 1 − 1/θ: the search is over α alone. The
// series is taken about its first value, so that a dynamic line does not depend on where 0 is.
//
// With a Period, a season that is significant at 90 % is divided out first and multiplied in again (classical
// multiplicative decomposition; additive where an observation is not positive). Its factors stay as they were fitted.
//
// The standard errors are those of simple exponential smoothing, σ√(1 + (h−1)α²). A missing value leaves the level where
// it is, and the errors go on widening.
package theta
