// Package ets forecasts by the family of innovations state space models: error, trend and season, each absent, added or
// multiplied, with a likelihood to choose among them (Hyndman, Koehler, Ord & Snyder 2008).
//
// With l the level, b the trend, s the season of period m, φ the damping and q = l + φb, the mean of the coming step and
// the states after a surprise a = y − μ are
//
//	season added:    μ = q + s[t−m],   l ← q + α·a,      b ← φb + β·a,      s[t] ← s[t−m] + γ·a
//	season times:    μ = q · s[t−m],   l ← q + α·a/s,    b ← φb + β·a/s,    s[t] ← s[t−m] + γ·a/q
//
// The error is a itself, or a/μ where errors multiply: that decides about the likelihood and the width of intervals, not
// about the states. A model is named by its three components, ETS(M,Ad,N): errors that multiply, a damped trend, no
// season. Multiplicative trends are left out.
//
//	chosen, err := ets.Auto{Period: 24}.Estimate(series)   // the best of fifteen by AICc
//	one, err := ets.Model{Spec: ets.Spec{Trend: ets.DampedTrend}}.Estimate(series)
//
// # Estimation
//
// Parameters and starting states maximise the likelihood together; the season of the start only up to a period of 24.
// One backward pass gives the gradient along all of them for the price of about two passes, whatever their number, and a
// quasi-Newton search descends from starts with a slow and a fast level, with a season that stands still (the mean one
// of the series) and one that moves (that of its first seasons). All parameters are kept to the usual region and to what
// is forecastable, unless Region is Admissible.
//
// # Uncertainty
//
// Means and standard errors are exact for the models with additive errors and an added season, for those with
// multiplicative errors and an added season, and for those with multiplicative errors and a season that multiplies
// (ch. 6: classes 1 to 3); parameter uncertainty is left out, as is usual. The models of the fourth kind, additive errors
// and a season that multiplies, have no finite variance; they are simulated, from a seed, and so is any model whose
// Simulation asks for paths.
//
// A missing value leaves the states to coast, and the standard errors go on widening from where they were; where errors
// multiply and the season is added, as if the means over the gap had been that of the step after it. The likelihood
// passes over it.
package ets
