// Package numeric is what models compute with: optimisers of a smooth function of a few variables, and units.go, which takes
// the unit of measurement out of a series, so that the models compute with numbers near 1 whatever the series counts: bytes,
// requests or 1e-300 of something. The optimisers are deterministic: the same function and start give the same answer to the
// last bit, without goroutine or clock.
package numeric
