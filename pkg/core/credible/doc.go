// Package credible says which samples of a demand can be believed, and how far a history justifies a value.
//
// Recorded demand hardly ever leaps: over 32 workloads and 1.2 million half-minutes it was above twice the highest level
// that had lasted two minutes so far in 26 stretches. A broken scrape leaps by any factor. So what is far above all that
// was seen is a suspect until it is corroborated, and no forecast is above the bound that history sets.
//
//	raw sample ──> base: the highest level that lasted, or was reached at three separate times (base.go)
//	           ──> Filter: at or below the cap of the base, the sample is credible; above it, it waits (filter.go)
//	           ──> Bound: the most that may be forecast, from the recent, the repeated and what came once (bound.go)
//
// Everything is homogeneous of degree 1 where no replica's capacity is known: a demand twice as large has a bound twice as
// large. Time is the number of steps; there is no clock.
package credible
