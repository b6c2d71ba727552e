// Package pool puts a warm pool into a simulation: at every refresh package [warmpool] plans, by what forewarm's own
// forecaster knew at that time, how many places wait for replicas, and forewarm looks no further ahead than a pod takes
// while they cover what may be wanted.
//
//	demand ──> the distributions of its maximum ahead, refit by refit (windows.go)
//	       ──> the plan, at every refresh of a simulation (keeper.go)
//	       ──> places that are held, and the value that is served
//
// Windows are the same whatever the workload does, so that many pools are played on one Windows. A Spare is what a pool is
// held beside: a number of places that never changes.
package pool
