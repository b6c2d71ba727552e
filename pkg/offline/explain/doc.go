// Package explain explains a HorizontalPodAutoscaler: what it computes at its next sync from its spec, its metrics'
// readings, its target's scale and the Forecasts behind its metrics, in sentences with their numbers. Warnings name
// harmful settings, with advice.
//
// The arithmetic is the controller's own (package [hpa]). What the controller remembers between syncs cannot be read
// from outside: earlier recommendations, which stabilize, and earlier changes, which count against policies. The
// present number of replicas is assumed to be the last recommendation, and only the last change is known, from the
// HPA's status. If the result may differ from the status, a sentence says why.
package explain
