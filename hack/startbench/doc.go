// Command startbench measures what the start of forewarm costs beside a real Prometheus: it writes a history of many
// series to disk, starts the Prometheus on PATH over it, starts bin/forewarm with as many Forecasts, shows what its
// /readyz waits for, and reports when it was ready, what that took, and what a step costs from then on. It does so with
// Forecasts that ask for a quantile, and then with as many that ask for an objective.
//
//	go run ./hack/startbench --forecasts 1000 --days 14 --ask quantile,objective
//
// Everything listens on loopback, lives in a temporary folder, and stops with the command.
package main
