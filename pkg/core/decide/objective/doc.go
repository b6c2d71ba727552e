// Package objective calibrates the headroom of an objective. Users pay for replica-hours and suffer from late requests, so the package
// measures both: simulated autoscalers, each with an HPA, pods and a queue, replay the observed demand.
//
// One step, with the file of each part:
//
//	demand ──> candidates forecast the window peak (candidate.go)
//	       ──> simulated autoscalers, one for each headroom multiplier, play the step (package sim)
//	       ──> every hour: lateness and cost under each multiplier (estimator.go)
//	       ──> the cheapest candidate that meets the objective (decide.CandidateSelector), and its multiplier (calibrator.go)
//	       ──> the report: whether the objective is met, and the last week's lateness and cost (verdict.go, accounts.go)
//
// An Estimator finds the multiplier at which the share of late demand meets the objective. Lateness is rare, so the Estimator uses a prior
// from other workloads until enough lateness has been observed (prior.go).
package objective
