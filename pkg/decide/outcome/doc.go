// Package outcome calibrates a decision by what comes of it. Users pay replica-hours and suffer late requests; so what is
// served is chosen by these two, as shadows of the workload, each with its own HPA, pods and queue, play them on the demand
// that was observed.
package outcome
