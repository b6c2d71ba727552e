// Command startbench measures what the start of forewarm costs with a real Prometheus. It writes a history of many
// series to disk, starts the Prometheus on PATH with it, starts bin/forewarm with as many Forecasts, prints what
// /readyz waits for, and reports the time until it was ready, the CPU time and memory of the start, and the cost of a
// step after it. It does so first with Forecasts that have a quantile, then with Forecasts that have an objective.
//
//	go run ./hack/startbench --forecasts 1000 --days 14 --ask quantile,objective
//
// All processes listen on loopback, use a temporary folder, and stop with the command.
package main
