// Package smoothing forecasts by exponential smoothing: a level, a trend and a season that each move a share of every
// surprise.
//
// With e the one-step forecast error, m the period and φ the damping, the state moves by
//
//	e = y − (l + φb + s[t−m])
//	l ← l + φb + α·e
//	b ← φb + α·β·e
//	s[t] ← s[t−m] + (1−α)·γ·e
//
// which is the error-correction form of Holt (1957) and Winters (1960), with the damped trend of Gardner & McKenzie
// (1985). SES keeps the level alone, Holt level and trend, HoltWinters all three. In this form the usual region of the
// parameters is 0 ≤ α, β, γ ≤ 1.
//
// The parameters minimize the sum of squared one-step errors. The search is by the downhill simplex from several starts,
// because the sum has several minima. The states start by the usual conventions, like those of R's HoltWinters, and are
// not searched, so the first errors matter on short series. Any parameter can be fixed:
//
//	smoothing.HoltWinters{Period: 24, Alpha: new(0.3)}
//
// The standard errors are those of the linear innovations models of class 1 (Hyndman, Koehler, Ord & Snyder 2008,
// ch. 6): the variance of step h is σ²(1 + c₁² + … + c²ₕ₋₁), c the response of the series to a surprise.
//
// A missing value leaves the state to coast: the level follows the trend, the season turns on, and the standard errors
// go on widening from where they were. The first observation after a gap corrects the level by its share only, so what
// the gap left unknown about the level fades by (1−α)² per observation.
package smoothing
