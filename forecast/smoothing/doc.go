// Package smoothing forecasts by exponential smoothing: a level, a trend and a season each move by a share of every forecast error.
//
// With e the one-step forecast error, m the period and φ the damping, the state moves by
//
//	e = y − (l + φb + s[t−m])
//	l ← l + φb + α·e
//	b ← φb + α·β·e
//	s[t] ← s[t−m] + (1−α)·γ·e
//
// which is the error-correction form of Holt (1957) and Winters (1960), with the damped trend of Gardner & McKenzie (1985). SES has only
// the level, Holt has level and trend, and HoltWinters has all three. In this form the usual region of the parameters is 0 ≤ α, β, γ ≤ 1.
//
// The parameters minimize the sum of squared one-step errors. The search is a downhill simplex from several starting points, because the
// sum has several minima. The initial states follow the usual conventions, for example of R's HoltWinters. They are not estimated, so the
// first errors matter on short series. Any parameter can be fixed:
//
//	smoothing.HoltWinters{Period: 24, Alpha: new(0.3)}
//
// The standard errors are the ones of the linear innovations models of class 1 (Hyndman, Koehler, Ord & Snyder 2008, ch. 6): the variance
// of step h is σ²(1 + c₁² + … + c²ₕ₋₁), where c is the response of the series to a forecast error.
//
// At a missing value, the level follows the trend, the season continues, and the standard errors keep widening. The first observation after
// a gap corrects the level only by its share, so the uncertainty about the level that the gap caused decays by (1−α)² per observation.
package smoothing
