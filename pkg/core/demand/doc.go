// Package demand classifies each sample of a demand. The observed demand is not always the real demand: a saturated service hides a part of
// its demand, and during an outage, a rollout or a scrape failure there is nothing to observe.
//
//	Reading ──> Classifier: known, censored (a lower bound) or masked, and the cause (classifier.go)
//	              far above any credible demand, and not confirmed (filter.go)           ──> masked
//	              a sudden low, new or after a gap, that recovers (fall.go)               ──> masked
//	              the saturation signal (spec.signal.saturated)                           ──> censored
//	              a plateau at capacity (plateau.go)                                      ──> censored
//	              a sudden, unusual drop to zero (outage.go)                              ──> masked, for a while
//	              lower than before, while the source still adds to the sample            ──> masked, until it is complete
//	              no sample, or an invalid sample                                         ──> masked
//	        ──> Sample, for the models
//
// The package never changes a value, and never masks a credible rise, because a burst is demand. A Classifier only looks back, so later
// samples do not change its results. It is homogeneous of degree 1: if demand and capacity are twice as large, the classes stay the same.
//
// It does not repeat what PromQL does. rate and increase treat a counter that falls as a counter that restarted at 0, so a restart loses at
// most the increase between two scrapes. They average over a gap that is shorter than their range, and have no sample in a longer gap. A
// reset makes delta and deriv negative, which is not a valid demand. A rate that is higher than its neighbors after a gap is kept, because it
// may come from requests that had waited.
//
// # What is credible
//
// Recorded demand almost never jumps. In 32 workloads with 1.2 million half-minutes, it exceeded twice the highest level that had lasted two
// minutes in only 26 stretches. A broken scrape can be off by any factor. Therefore a sample far above all earlier samples is suspect until
// it is confirmed, and no forecast is above the bound that the history justifies.
//
//	raw sample ──> base: the highest level that lasted, or was reached at three separate times (base.go)
//	           ──> Filter: a sample up to the cap of the base is credible; a higher one waits (filter.go)
//	           ──> Bound: the most that may be forecast, from recent, repeated and single levels (bound.go)
//
// If the capacity of a replica is unknown, everything is homogeneous of degree 1: a demand twice as large has a bound twice as large. Time is
// the number of steps; there is no clock.
//
// # Times at zero
//
// A signal that comes from the replicas disappears with them. A missing sample while a workload is scaled to zero is a demand of 0; at any
// other time, it is a gap. ZeroPeriods (zeroperiods.go) says for every second of the past and for the next seconds whether the workload was
// scaled to zero. Without it, a workload that is scaled to zero every night would have a gap every night. A record has two numbers for each
// period at zero, so that it fits into the status of a Forecast.
package demand
