// Package ets forecasts by the innovations state space models with additive errors: a level, with or without a trend,
// damped or not, and a season, and a likelihood to choose among the six (Hyndman, Koehler, Ord & Snyder 2008).
//
// With l the level, b the trend, s the season of period m, φ the damping and q = l + φb, the mean of the coming step
// and the states after a surprise a = y − μ are
//
//	μ = q + s[t−m],   l ← q + α·a,   b ← φb + β·a,   s[t] ← s[t−m] + γ·a
//
// A model is named by its three components, ETS(A,Ad,N): additive errors, a damped trend, no season. Errors, trends and
// seasons that multiply are left out: such series are forecast on their logarithm, transform.Log{Model: ets.Auto{…}}.
//
//	chosen, err := ets.Auto{Period: 24}.Fit(series)   // the best of the six by AICc
//	one, err := ets.Model{Trend: ets.DampedTrend}.Fit(series)
//
// # Estimation
//
// Parameters and starting states maximise the likelihood together; the season of the start only up to a period of 24.
// One backward pass gives the gradient along all of them for the price of about two passes, whatever their number, and a
// quasi-Newton search descends from starts with a slow and a fast level, with a season that stands still (the mean one
// of the series) and one that moves (that of its first seasons). All parameters are kept to the usual region, in which
// every state is a weighted mean of past values, and to what is forecastable.
//
// # Uncertainty
//
// Means and standard errors are exact for given parameters (ch. 6, class 1); parameter uncertainty is left out, as is
// usual. A missing value leaves the states to coast, and the standard errors go on widening from where they were. The
// likelihood passes over it.
package ets
