// Package simulate replays a recorded demand to a policy, a stock HPA and pods that take time to start. It counts
// replica-hours and late demand.
//
// One step of it, a file for each station:
//
//	demand ──> what is observed of it (run.go)
//	       ──> the places that a warm pool holds and the value that the policy serves (policy.go)
//	       ──> the HPA's replicas, pods and queue (package sim)
//	       ──> the report (report.go)
//
// The demand is the only clock. The same Config and policy give the same Report to the last bit. A policy cannot see
// the future: it gets one observation after the other, never the series.
//
// The policies are the observed demand, the maximum of the recent past, the same time on other days, and Forewarm itself.
// They use earlier observations if one is missing (NaN). Only OracleValues knows the future: a bound that no policy reaches.
//
// All amounts of demand in a Report are in replica-hours: what one replica serves in an hour.
package simulate
