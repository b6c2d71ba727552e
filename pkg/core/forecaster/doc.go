// Package forecaster decides what to serve for one series, one reading at a time.
//
//	reading ──> how it is classified (package demand)
//	        ──> the observed demand (demand.go)
//	        ──> candidates forecast the window peak, and are scored (package windowpeak)
//	        ──> adjustments for announced events (package event)
//	        ──> the selection: by pinball loss, or by the cost of simulated autoscalers (selection.go, package objective)
//	        ──> the headroom above the median, the bound, the value (package decide)
//	        ──> what the APIs show (describe.go, record.go)
//
// New replays a history with the same Step that processes live samples. There is no clock, lock or goroutine, so the same history always
// gives exactly the same state. The server, simulate and the benchmarks all use a Forecaster.
package forecaster
