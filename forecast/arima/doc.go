// Package arima forecasts by seasonal autoregressive integrated moving averages. After differencing, the next value is a weighted sum of
// recent values and recent errors, including values and errors of a season ago.
//
// In a SARIMA(p,d,q)(P,D,Q)[m], w is the series differenced d times at lag 1 and D times at lag m. It obeys
//
//	φ(B)Φ(Bᵐ) (w(t) − μ) = θ(B)Θ(Bᵐ) ε(t)
//
// with φ(B) = 1 − φ₁B − … − φₚBᵖ and θ(B) = 1 + θ₁B + … + θ_qB^q. Φ and Θ are defined in the same way. B is the backshift operator, and the
// ε are independent and Gaussian with variance σ². The constant μ is the mean of a series without differences, and the drift per step of a
// series with one difference. It is 0 unless Constant is set.
//
// # Estimation
//
// The parameters maximize the exact Gaussian likelihood given the first d + mD observations. For given φ, Φ, θ and Θ, the other parameters
// have a closed form: μ follows from generalized least squares on whitened columns, and σ² from the residuals (Kohn & Ansley 1985). So the
// search only runs over the four polynomials. Their coordinates are partial autocorrelations, transformed by tanh (Monahan 1984), which
// keeps the process stationary and invertible at every step. The search starts from the estimate of Hannan & Rissanen (1982) with
// conditional least squares. It continues with Levenberg–Marquardt on the innovations, over which the determinant is distributed, and ends
// with BFGS.
//
// # Cost
//
// The state of a model with a season of a day has r elements: tens of them for hours, and thousands for minutes. No r × r matrix is ever
// formed. The initial state comes from the autocovariances of the autoregressive part. The Levinson recursion computes them without solving
// a system, so they are accurate even near a unit root, where the usual solutions lose their digits. After that, two vectors carry the gain
// (Morf, Sidhu & Kailath 1974; Pearlman 1980), which costs r multiplications per step. Once the variance of the next value has converged to
// the variance of an innovation, the gain is frozen. A step then costs as many multiplications as the polynomials have nonzero terms.
//
// # Missing values
//
// A missing value is an unknown: a column with the effect of its innovation on the state, which later observations shrink. This is exact,
// and so are the standard errors after a gap, unless there are more unknowns at the same time than a filter keeps (48, or the size of the
// state). If there are more, the unknown with the smallest effect is treated as known. If one of the first d + mD values is missing, it is
// an unknown without prior information.
//
// R's arima uses a prior for the first d + mD values with 10⁶ times the variance of the innovations, but this package conditions on these
// values. Therefore, the log-likelihoods differ by up to 4·10⁻³. With R's prior, they are equal within 10⁻⁶, as the package's tests check.
//
// # Order
//
// Auto chooses D by the strength of the season (Wang, Smith & Hyndman 2006), d by successive KPSS tests (Kwiatkowski, Phillips, Schmidt &
// Shin 1992), then the terms and the constant by the corrected information criterion of Hurvich & Tsai (1989), in the manner of Hyndman &
// Khandakar (2008). Orders are screened by conditional least squares, or by exact likelihood for short series. Each search starts where the
// search for a neighboring order ended. Without a season, all orders are screened. With a season, the screening moves from simple orders to
// better neighbors until an order is better than all its neighbors. The best few orders are compared by exact likelihood.
//
// # Online
//
// A Fitted accepts observations one at a time, in constant time and without allocation. Its parameters do not change.
package arima
