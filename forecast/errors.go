package forecast

import "errors"

// The errors of Fit. They are wrapped with the numbers; test with errors.Is.
var (
	// ErrTooShort: fewer observations than the model needs. More history solves it.
	ErrTooShort = errors.New("too short")
	// ErrParameter: a parameter of the model lies outside its domain. Only the caller can correct it.
	ErrParameter = errors.New("parameter out of range")
	// ErrNotFinite: an observation is infinite. (NaN is a gap and is allowed.)
	ErrNotFinite = errors.New("not finite")
	// ErrNotPositive: an observation is zero or negative, and the model is multiplicative. Use an additive model.
	ErrNotPositive = errors.New("not positive")
	// ErrNoConvergence: the optimiser found no finite optimum.
	ErrNoConvergence = errors.New("no convergence")
)
