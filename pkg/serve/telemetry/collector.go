// Package telemetry turns the newest snapshot into Prometheus metrics: what is observed, forecast and served, how old
// the data is, how well the models did, and how the refresh loop goes. A number that is not known is left out, never NaN
// or 0.
package telemetry

import (
	"math"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

var _ prometheus.Collector = (*Collector)(nil)

// Collector reads the board whenever it is scraped. Register it on the registry whose endpoint serves it.
type Collector struct {
	board *snapshot.Board
	now   func() time.Time
}

// New collects from the board; now is the clock against which the age of data is told.
func New(board *snapshot.Board, now func() time.Time) *Collector {
	return &Collector{board: board, now: now}
}

// Describe sends every description.
func (*Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		out <- d
	}
}

// Collect sends the metrics of the newest snapshot; none before the first.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	newest := c.board.Load()
	if newest == nil {
		return
	}
	now := c.now()
	collectLoop(out, newest, now)
	states := make(map[snapshot.State]int, len(allStates))
	for _, e := range newest.All("") {
		state := e.StateAt(now)
		states[state]++
		labels := []string{e.Key.Namespace, e.Key.Name}
		collectEntry(out, e, now, labels)
		collectState(out, state, labels)
		collectCandidates(out, e, labels)
		collectOutcome(out, e.Outcome, labels)
	}
	for _, state := range allStates {
		gauge(out, forecasts, float64(states[state]), string(state))
	}
}

func collectLoop(out chan<- prometheus.Metric, s *snapshot.Snapshot, now time.Time) {
	gauge(out, snapshotAge, now.Sub(s.Time).Seconds())
	gauge(out, refreshStep, s.Loop.StepSeconds)
	counter(out, refreshSteps, s.Loop.Steps)
	counter(out, queries, s.Loop.Queries)
	counter(out, queryErrors, s.Loop.QueryErrors)
	counter(out, rebuilds, s.Loop.Rebuilds)
	gauge(out, pending, float64(s.Pending))
}

func collectEntry(out chan<- prometheus.Metric, e *snapshot.Entry, now time.Time, labels []string) {
	gauge(out, observedDemand, e.Observed, labels...)
	gauge(out, skill, e.Skill, labels...)
	gauge(out, coverage, e.Coverage, labels...)
	counter(out, fallbacks, e.Fallbacks, labels...)
	if e.State != snapshot.Invalid {
		gauge(out, leadTime, e.Lead.Seconds(), labels...)
		gauge(out, leadWindow, e.Window.Seconds(), labels...)
	}
	if !e.SampleTime.IsZero() {
		gauge(out, dataAge, now.Sub(e.SampleTime).Seconds(), labels...)
	}
	if answer, err := e.Answer(decide.Selection{}, now); err == nil {
		gauge(out, servedDemand, answer.Value, labels...)
	}
}

func collectState(out chan<- prometheus.Metric, is snapshot.State, labels []string) {
	for _, state := range allStates {
		value := 0.0
		if state == is {
			value = 1
		}
		gauge(out, forecastState, value, labels[0], labels[1], string(state))
	}
}

// collectCandidates sends each model's scores, and the distribution of the one that serves.
func collectCandidates(out chan<- prometheus.Metric, e *snapshot.Entry, labels []string) {
	for i := range e.Candidates {
		c := &e.Candidates[i]
		chosen := 0.0
		if c.Name == e.Model {
			chosen = 1
			collectWindows(out, c.Windows, labels)
		}
		gauge(out, candidateChosen, chosen, labels[0], labels[1], c.Name)
		gauge(out, candidateLoss, c.Loss, labels[0], labels[1], c.Name)
	}
}

func collectWindows(out chan<- prometheus.Metric, windows []windowpeak.Window, labels []string) {
	for i := range windows {
		horizon := strconv.FormatFloat(windows[i].Horizon.Seconds(), 'f', -1, 64)
		for _, level := range levels {
			quantile := strconv.FormatFloat(level, 'f', -1, 64)
			gauge(out, forecastDemand, windows[i].Quantiles.At(level), labels[0], labels[1], quantile, horizon)
		}
	}
}

// gauge sends a value, unless it is not known.
func gauge(out chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func counter(out chan<- prometheus.Metric, d *prometheus.Desc, value uint64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
}

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
