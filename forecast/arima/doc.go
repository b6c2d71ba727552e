// Package arima forecasts by autoregressive integrated moving averages: the next value as a weighted sum of recent
// values and recent surprises, after differencing.
//
// An ARIMA(p,d,q) says that the series differenced d times, w, obeys
//
//	w(t) − μ = φ₁(w(t−1) − μ) + … + φₚ(w(t−p) − μ) + ε(t) + θ₁ε(t−1) + … + θ_qε(t−q)
//
// with independent Gaussian ε of variance σ². μ, the constant, is the mean of the series where d = 0 and its drift per
// step where d = 1. It is 0 unless asked for.
//
// # Estimation
//
// The parameters maximise the exact Gaussian likelihood, computed by the Kalman filter (Harvey 1989, ch. 3–4) given
// the first d observations. A missing value costs one skipped update and nothing else; the level across a gap is kept,
// as the last d values are part of the state. μ and σ² are concentrated out: for given φ and θ both have a closed form
// (Kohn & Ansley 1985), so the search runs over φ and θ alone. Both are searched as partial autocorrelations through
// tanh (Monahan 1984), which keeps the process stationary and invertible at every step. The search starts from Hannan &
// Rissanen (1982) and climbs by BFGS.
//
// The filter starts from the stationary covariance, built from the autocovariances of the autoregressive part, which
// the Levinson recursion yields without solving a linear system; it holds near a unit root, where the usual solves lose
// their digits. Once the covariance has converged the gain is frozen and a step costs p + q multiplications: this is
// what makes twenty thousand observations a matter of milliseconds.
//
// # Order
//
// Auto chooses d by successive KPSS tests (Kwiatkowski, Phillips, Schmidt & Shin 1992), then p, q and the constant by
// the corrected information criterion of Hurvich & Tsai (1989), in the manner of Hyndman & Khandakar (2008): all orders
// are screened by conditional least squares, the best few are compared by exact likelihood.
//
// # Online
//
// A Fitted takes observations one at a time in constant time and without allocation. Parameters stay as estimated.
package arima
