// Package diagnose says what a series is like before a model is chosen: how many differences make it stationary, how it
// correlates with its own past, which seasons it has.
//
//	for _, season := range diagnose.Periods(values, time.Hour) { … }    // 24 steps, 168 steps
//	d := diagnose.Differences(values, 2)                                // 0: it keeps its level; 1: it wanders
//	acf := diagnose.ACF(residuals, 24)                                  // what a model has left over
//
// All functions take values in their order; NaN is a gap and is left out. None fails: where there is too little to
// tell, the answer is the one that claims nothing (no difference, no correlation, no season).
//
// One test answers each question. Differences asks KPSS, which starts from a stationary series; tests that start from a
// unit root (Dickey & Fuller 1979; Phillips & Perron 1988; Osborn, Chui, Smith & Birchenhall 1988 for seasons) favour it
// where the series is too short to tell, and are left out for that (Hyndman & Khandakar 2008).
package diagnose
