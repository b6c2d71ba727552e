// Package simulate plays a recorded demand to a policy, a stock HPA and pods that take their time to start, and counts
// what users care about: the hours that were paid for and the demand that came late.
//
// One step of it, a file for each station:
//
//	demand ──> what is observed of it (meter.go)
//	       ──> the places that a warm pool holds and the value that the policy serves (policy.go)
//	       ──> the HPA's replicas, by the arithmetic of package hpa (workload.go)
//	       ──> pods, which start after a lead time (cluster.go), on nodes that may have to come first (nodes.go)
//	       ──> a fluid queue before those that are ready (queue.go)
//	       ──> the report (report.go)
//
// Time is that of the demand: there is no other clock. The same Config and policy give the same Report to the last bit. A
// policy cannot see the future, as it is handed one observation after the other and never the series.
//
// All amounts of demand in a Report are in replica-hours: what one replica serves in an hour.
package simulate
