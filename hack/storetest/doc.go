// Package storetest runs real stores of samples for tests: Prometheus, VictoriaMetrics and Thanos (sidecar, receive, store,
// query). Every server listens on loopback, keeps its data in a temporary folder and is killed when its test ends.
//
// FOREWARM_STORES lists the folders with the binaries victoria-metrics and thanos, as PATH lists folders. Prometheus is
// that of PATH.
package storetest
