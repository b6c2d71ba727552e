// Package forecaster lives one series: reading by reading it makes the decision what to serve.
//
//	reading ──> what it is worth (packages credible and repair)
//	        ──> the demand that is observed (demand.go)
//	        ──> candidates forecast the window peak, and are scored (package windowpeak)
//	        ──> the selection: by pinball loss, or by the bill of simulated autoscalers (selection.go, package outcome)
//	        ──> the headroom above the median, the bound, the value (package decide)
//	        ──> what is shown of it (describe.go, record.go)
//
// New steps through a history with the very Step that live samples take. There is no clock, no lock and no goroutine; the
// same history gives the same state to the last bit. The server, simulate, backtest and the benches all make a Forecaster.
package forecaster
