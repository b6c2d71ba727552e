package forecast

import "errors"

// The reasons for which a model does not fit. They are wrapped with the numbers at hand; test with errors.Is.
var (
	// ErrTooShort: fewer observations than the model needs. More history mends it.
	ErrTooShort = errors.New("too short")
	// ErrParameter: a parameter of the model lies outside its domain. Only the caller can mend it.
	ErrParameter = errors.New("parameter out of range")
	// ErrNotFinite: an observation is infinite. (NaN is a gap and is allowed.)
	ErrNotFinite = errors.New("not finite")
	// ErrNotPositive: an observation is zero or negative, and the model multiplies. An additive model takes it.
	ErrNotPositive = errors.New("not positive")
	// ErrNoConvergence: the optimiser found no finite optimum.
	ErrNoConvergence = errors.New("no convergence")
)
