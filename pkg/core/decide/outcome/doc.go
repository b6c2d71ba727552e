// Package outcome calibrates a decision by what comes of it. Users pay replica-hours and suffer late requests; so what is
// served is chosen by these two, as shadows of the workload, each with its own HPA, pods and queue, play them on the demand
// that was observed.
//
// One step, a file for each station:
//
//	demand ──> contenders forecast the window peak (candidate.go)
//	       ──> shadows, one for each multiple of the candidate's spread, play the step (package workload)
//	       ──> every hour: what was late under each multiple, and what it cost (package margin)
//	       ──> the cheapest contender that keeps the objective (decide.Gate), and its multiple (objective.go)
//	       ──> the report: kept or not, why, by how much, and what the last week took (verdict.go, accounts.go)
package outcome
