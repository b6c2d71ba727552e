// Package diagnose says what a series is like before a model is chosen: how many differences make it stationary, how it
// correlates with its own past, which seasons it has.
//
// All functions take values in their order; NaN is a gap and is left out. None fails: where there is too little to
// tell, the answer is the one that claims nothing (no difference, no correlation, no season).
package diagnose
