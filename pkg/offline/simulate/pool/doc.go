// Package pool adds a warm pool to a simulation. At every refresh package [warmpool] plans how many places to hold,
// from what Forewarm's forecaster knew at that time. While the pool covers its members, Forewarm looks ahead only by
// the lead time of a pod.
//
//	demand ──> window peak forecasts at every step (windowpeaks.go)
//	       ──> the plan, at every refresh of a simulation (planned.go)
//	       ──> places that are held, and the value that is served
//
// WindowPeaks do not depend on the workload, so one WindowPeaks serves many simulated pools. FixedPlaces is the
// comparison: a constant number of places.
package pool
