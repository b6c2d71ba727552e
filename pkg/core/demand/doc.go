// Package demand decides what each sample of a demand is worth. The observed demand is not always the real one: a
// saturated service hides part of its demand, and during an outage, a rollout or a scrape failure there is nothing to
// observe.
//
//	Reading ──> Classifier: known, censored (a lower bound) or masked, and the cause (classifier.go)
//	              far above all that is credible and not corroborated (filter.go)        ──> masked
//	              a sudden low, as it was not before or after a gap, that recovers (fall.go) ──> masked
//	              the saturation signal (spec.signal.saturated)                           ──> censored
//	              a plateau at capacity (plateau.go)                                      ──> censored
//	              a sudden, unusual drop to zero (outage.go)                              ──> masked, for a while
//	              below the one before, in a sum that still grows                         ──> masked, until it is complete
//	              no sample, or one that cannot be demand                                 ──> masked
//	        ──> Sample, for the models
//
// No value is changed, and a credible rise is never masked: a burst is demand. A Classifier looks back only, so later
// samples do not change its results. It is homogeneous of degree 1: demand and capacity twice as large are classified
// the same.
//
// It does not repeat what PromQL does. rate and increase treat a counter that falls as one that restarted at 0, so a
// restart costs at most what was counted between two scrapes. Over a gap shorter than their range they average; over a
// longer one they have no sample. A reset makes delta and deriv negative, which cannot be demand. A rate that is higher
// than its neighbours after a gap may be the requests that had waited: it stays.
//
// # What is credible
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
//
// # Times at zero
//
// A signal that comes from the replicas disappears with them: a missing sample while a workload was scaled to zero is
// demand 0, at any other time a gap. ZeroPeriods (zeroperiods.go) answers for every second of the past and the next seconds
// whether it was. A workload that is scaled to zero every night would have a gap every night otherwise. A record is two
// numbers per period at zero, so that a Forecast's status can hold it.
package demand
