// Package explain says why a HorizontalPodAutoscaler does what it does: what its spec, its metrics' readings, its target's
// scale and the Forecasts behind its metrics come to at the next sync, in sentences with their numbers, and what in it does
// harm, in warnings with advice.
//
// The figure is the controller's own (package [hpa]). What it remembers between syncs cannot be read from outside: earlier
// recommendations, which stabilize, and earlier changes, which count against policies. The present number of replicas is
// taken for what was recommended last, and of the changes only the last is known, by its time and by what the HPA's status
// tells. That makes the figure what the status will say; where it may not, a sentence says what is not known.
package explain
