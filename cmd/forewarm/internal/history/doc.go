// Package history reads the history of a demand for a command: a column of a trace file, or a range of a Prometheus.
// Errors name the problem, its place and what to do. Values that were dropped are noted, as they may change a
// verdict.
package history
