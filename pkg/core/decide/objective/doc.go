// Package objective calibrates the headroom of an objective. Users pay replica-hours and suffer late requests, so both are
// measured: simulated autoscalers, each with an HPA, pods and a queue, play the observed demand.
//
// One step, with the file of each part:
//
//	demand ──> candidates forecast the window peak (candidate.go)
//	       ──> simulated autoscalers, one for each headroom multiplier, play the step (package sim)
//	       ──> every hour: lateness and cost under each multiplier (estimator.go)
//	       ──> the cheapest candidate that keeps the objective (decide.CandidateSelector), and its multiplier (calibrator.go)
//	       ──> the report: whether the objective is met, and the last week's lateness and cost (verdict.go, accounts.go)
//
// An Estimator finds the multiplier at which the share of the demand that is late meets the objective. Lateness is rare, so
// a prior from other workloads counts until enough is observed (prior.go).
package objective
