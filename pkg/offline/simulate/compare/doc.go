// Package compare plays one history to every policy that a user could choose, under the user's own autoscaler, and holds
// what came of each beside the others: the evidence on which forewarm is switched on, or not.
//
//	history, hpa.Spec, lead time, objective (config.go)
//	    ──> the value that each policy serves, step by step (served.go, forewarm.go)
//	    ──> the autoscaler as it is written, and with the best target in hindsight (target.go)
//	    ──> cost against lateness as the target or the objective moves (target.go)
//	    ──> the verdict in two sentences (verdict.go)
//
// Rivals are given the benefit of hindsight: their target is the one that would have been cheapest over the very history
// that is judged. Forewarm is not: it plays the history as it came.
package compare
