// Package hpasim plays what is scaled: a stock HPA, its pods, which take their time to start, and the queue before
// them. The simulator plays one over a recorded demand; a decision plays some beside the real one, on the demand as it
// arrives, to learn what would come of what it might serve.
//
// One step of it, a file for each station:
//
//	value ──> the HPA's replicas, by the arithmetic of package hpa (workload.go)
//	      ──> pods, which start after a lead time (cluster.go), on nodes that may have to come first (nodes.go)
//	          or that a warm pool holds for them (pool.go)
//	      ──> a fluid queue before those that are ready (queue.go)
//	      ──> the moment: what was late, and what was paid for
//
// There is no clock: time is the number of steps. The same Spec and the same steps give the same moments to the last bit.
package hpasim
