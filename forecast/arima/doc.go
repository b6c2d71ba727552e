// Package arima forecasts by seasonal autoregressive integrated moving averages: the next value as a weighted sum of recent
// values and recent errors, those of a season ago among them, after differencing.
//
// In a SARIMA(p,d,q)(P,D,Q)[m] w, which is the series differenced d times at lag 1 and D times at lag m, obeys
//
//	φ(B)Φ(Bᵐ) (w(t) − μ) = θ(B)Θ(Bᵐ) ε(t)
//
// with φ(B) = 1 − φ₁B − … − φₚBᵖ, θ(B) = 1 + θ₁B + … + θ_qB^q, Φ and Θ alike, B the step back and ε independent
// Gaussian of variance σ². μ, the constant, is the mean of the series without differences and its drift per step with
// one. It is 0 unless asked for.
//
// # Estimation
//
// The parameters maximise the exact Gaussian likelihood given the first d + mD observations. For given φ, Φ, θ and Θ
// the others have a closed form: μ by generalised least squares on whitened columns, σ² from what is left
// (Kohn & Ansley 1985), so the search runs over the four polynomials alone. They are searched as partial
// autocorrelations through tanh (Monahan 1984), which keeps the process stationary and invertible at every step. The
// search starts from Hannan & Rissanen (1982) by conditional least squares, goes on by Levenberg–Marquardt on the
// innovations with the determinant spread over them, and ends in BFGS.
//
// # Cost
//
// The state of a model of a day's season has tens of elements, at one minute thousands, and no r × r matrix is ever
// formed. The start comes from the autocovariances of the autoregressive part, which the Levinson recursion yields
// without solving a system; it holds near a unit root, where the usual solves lose their digits. From there the gain is
// carried by two vectors (Morf, Sidhu & Kailath 1974; Pearlman 1980): r multiplications a step. Once the variance of
// the coming value has arrived at that of an innovation the gain is frozen, and a step costs as many multiplications as
// the polynomials have terms that are not 0.
//
// # Missing values
//
// A missing value is an unknown: a column with the effect of its innovation on the state, which later observations
// shrink. That is exact, and so are the standard errors after a gap, as long as there are no more unknowns at once than
// a filter keeps (48, or the state's size); beyond that the least of them is taken for known. A value of the first d +
// mD that is missing is an unknown of which nothing is known before.
//
// R's arima starts from a prior for the first d + mD values with 10⁶ times the innovations' variance, where this
// package conditions on them. Its log-likelihoods differ from ours by up to 4·10⁻³ for that; the package's tests hold
// ours to R's under R's prior, within 10⁻⁶.
//
// # Order
//
// Auto chooses D by the strength of the season (Wang, Smith & Hyndman 2006), d by successive KPSS tests (Kwiatkowski,
// Phillips, Schmidt & Shin 1992), then the terms and the constant by the corrected information criterion of Hurvich &
// Tsai (1989), in the manner of Hyndman & Khandakar (2008). Orders are screened by conditional least squares from where
// a neighbour's search ended, short series by exact likelihood: all of them without a season, else those on the way
// from simple ones to the best among its neighbours. The best few are compared by exact likelihood.
//
// # Online
//
// A Fitted takes observations one at a time in constant time and without allocation. Parameters stay as estimated.
package arima
