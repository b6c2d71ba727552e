package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/decide/outcome"
)

// The policies whose outcomes are compared: what forewarm serves, and the observed demand itself.
const (
	policyServed   = "served"
	policyObserved = "observed"
)

// collectOutcome sends how an objective fares; nothing where none is served by outcome.
func collectOutcome(out chan<- prometheus.Metric, r *outcome.Report, labels []string) {
	if r == nil {
		return
	}
	if !(r.Price > 0) {
		collectObjective(out, r, labels)
	}
	if widest, ok := r.Widest(); ok {
		gauge(out, objectiveMargin, widest.K, labels...)
		gauge(out, objectiveExpected, widest.Expected, labels...)
	}
	if r.Over <= 0 {
		return
	}
	gauge(out, outcomeWindow, r.Over.Seconds(), labels...)
	collectAccount(out, r.Served, labels[0], labels[1], policyServed)
	collectAccount(out, r.Observed, labels[0], labels[1], policyObserved)
}

// collectObjective sends the share that may be late, and whether it is kept; a cost ratio promises none.
func collectObjective(out chan<- prometheus.Metric, r *outcome.Report, labels []string) {
	gauge(out, objectiveLate, r.Late, labels...)
	switch {
	case r.Verdict == outcome.Met:
		gauge(out, objectiveMet, 1, labels...)
	case r.Verdict.Misses():
		gauge(out, objectiveMet, 0, labels...)
	}
}

func collectAccount(out chan<- prometheus.Metric, a outcome.Account, labels ...string) {
	gauge(out, outcomeReplicas, a.Paid*time.Hour.Seconds(), labels...)
	gauge(out, outcomeCost, a.Cost(), labels...)
	if a.Arrived > 0 {
		gauge(out, outcomeLate, a.LateShare(), labels...)
	}
}
