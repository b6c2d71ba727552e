// Package sim simulates an autoscaled workload: a stock HPA, its pods with their lead times, and a queue in front of
// them. The offline simulator runs one on recorded demand. A Forecast's objective calibration runs several on the
// observed demand to measure what each candidate value would cost.
//
// One step passes these stages, each in its own file:
//
//	value ──> the HPA's replicas, computed by package hpa (workload.go)
//	      ──> pods that start after a lead time (cluster.go), on nodes that may have to start first (nodes.go)
//	          or that a warm pool holds (pool.go)
//	      ──> a fluid queue in front of the ready pods (queue.go)
//	      ──> the StepResult: late demand, and replica-hours paid
//
// There is no clock: time is the number of steps. The same Spec and inputs give bit-identical results.
package sim
