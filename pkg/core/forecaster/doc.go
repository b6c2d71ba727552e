// Package forecaster decides what to serve for one series, one reading at a time.
//
//	reading ──> what it is worth (package demand)
//	        ──> the observed demand (demand.go)
//	        ──> candidates forecast the window peak, and are scored (package windowpeak)
//	        ──> what is known of it beforehand: events (events.go)
//	        ──> the selection: by pinball loss, or by the cost of simulated autoscalers (selection.go, package objective)
//	        ──> the headroom above the median, the bound, the value (package decide)
//	        ──> what the APIs show (describe.go, record.go)
//
// New replays a history with the same Step that live samples take. There is no clock, lock or goroutine; the same history
// gives the same state to the last bit. The server, simulate and the benches all use a Forecaster.
package forecaster
