// Package credible decides which samples of a demand are believed, and the most that a history justifies.
//
// Recorded demand hardly ever jumps: over 32 workloads and 1.2 million half-minutes it exceeded twice the highest level
// that had lasted two minutes so far in 26 stretches. A broken scrape can be off by any factor. So a sample far above
// all earlier ones is a suspect until it is corroborated, and no forecast is above the bound that history sets.
//
//	raw sample ──> base: the highest level that lasted, or was reached at three separate times (base.go)
//	           ──> Filter: a sample up to the cap of the base is credible; a higher one waits (filter.go)
//	           ──> Bound: the most that may be forecast, from recent, repeated and single levels (bound.go)
//
// Everything is homogeneous of degree 1 where the capacity of a replica is unknown: a demand twice as large has a bound
// twice as large. Time is the number of steps; there is no clock.
package credible
