// Package optimise finds the minimum of a smooth function of a few variables. Both methods are deterministic: the same
// function and start give the same answer to the last bit, without goroutine or clock.
package optimise
