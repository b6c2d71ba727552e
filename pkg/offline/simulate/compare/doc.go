// Package compare simulates every policy that a user could choose on one history, under the user's own autoscaler,
// and compares the results: the evidence for or against Forewarm.
//
//	history, hpa.Spec, lead time, objective (config.go)
//	    ──> the value that each policy serves, step by step (served.go)
//	    ──> the autoscaler as written, and with the best target in hindsight (target.go)
//	    ──> cost against lateness as the target or the objective moves (target.go)
//	    ──> the verdict (verdict.go)
//	    ──> what else was asked: scenarios (scenarios.go, variants.go), a warm pool (pool.go)
//
// Work is split into jobs (jobs.go). The benches play every setting (study.go).
//
// A warm pool is planned at every refresh by package [warmpool], from what Forewarm's forecaster knew at that time
// (pool_planned.go). While the pool covers its members, Forewarm looks ahead only by the lead time of a pod.
// Window peaks do not depend on the workload, so they serve every budget; a fixed number of places is the comparison.
//
// The other policies have the benefit of hindsight: their target is the cheapest over the very history that is
// judged. Forewarm has none: it sees the history as it arrived.
package compare
