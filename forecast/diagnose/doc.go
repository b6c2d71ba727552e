// Package diagnose has tests and statistics for the choice of a model: how many differences make a series stationary,
// how it correlates with its own past, which seasons it has.
//
//	for _, season := range diagnose.Periods(values, time.Hour) { … }    // 24 steps, 168 steps
//	d := diagnose.Differences(values, 2)                                // 0: it has a level; 1: it wanders
//	acf := diagnose.ACF(residuals, 24)                                  // of a model's residuals
//
// All functions take values in their order; NaN is a gap and is left out. None fails: with too few values the result is
// no difference, no correlation, no season.
//
// Each question has one test. Differences uses KPSS, whose null hypothesis is a stationary series; tests whose null
// hypothesis is a unit root (Dickey & Fuller 1979; Phillips & Perron 1988; Osborn, Chui, Smith & Birchenhall 1988 for
// seasons) rarely reject it on short series, and are left out for that reason (Hyndman & Khandakar 2008).
package diagnose
