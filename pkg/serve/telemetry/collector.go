// Package telemetry serves the newest snapshot as Prometheus metrics: observed, forecast and served demand, the age of
// the data, the models' scores, and the refresh loop. If a number is unknown, its metric is absent instead of NaN or 0.
package telemetry

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

var _ prometheus.Collector = (*Collector)(nil)

// Collector reads the store at every scrape.
type Collector struct {
	snapshots *snapshot.Store
	now       func() time.Time
	// common returns the conditions that all Forecasts have.
	common func() []snapshot.Condition
}

// New returns a collector for the store, which computes the age of data with now. It adds the conditions that common returns to the
// conditions of each Forecast; common may be nil.
func New(snapshots *snapshot.Store, now func() time.Time, common func() []snapshot.Condition) *Collector {
	if common == nil {
		common = func() []snapshot.Condition { return nil }
	}
	return &Collector{snapshots: snapshots, now: now, common: common}
}

// Describe sends every description.
func (*Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		out <- d
	}
}

// Collect sends the metrics of the newest snapshot. It sends nothing before the first snapshot.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	newest := c.snapshots.Load()
	if newest == nil {
		return
	}
	now, common := c.now(), c.common()
	collectLoop(out, newest, now)
	states := make(map[snapshot.State]int, len(allStates))
	for _, e := range newest.Entries("") {
		state := e.StateAt(now)
		states[state]++
		labels := []string{e.Key.Namespace, e.Key.Name}
		collectEntry(out, e, now, labels)
		collectState(out, state, labels)
		collectConditions(out, slices.Concat(e.Conditions, common), labels)
		collectCandidates(out, e, labels)
		collectObjective(out, e.Objective, labels)
		collectSpending(out, e.Usage, labels)
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
	counter(out, modelRefits, s.Loop.Refits)
	gauge(out, pending, float64(s.Pending))
	gauge(out, partial, float64(s.Partial))
	for source, ahead := range s.Loop.Clocks {
		gauge(out, sourceClock, ahead.Least().Seconds(), source)
	}
}

func collectEntry(out chan<- prometheus.Metric, e *snapshot.ForecastSnapshot, now time.Time, labels []string) {
	gauge(out, observedDemand, e.Observed, labels...)
	gauge(out, skill, e.Skill, labels...)
	gauge(out, coverage, e.Coverage, labels...)
	counter(out, fallbacks, e.Fallbacks, labels...)
	if e.State != snapshot.Invalid {
		gauge(out, forecastShadow, oneIf(e.Settings.Mode == decide.Shadow), labels...)
		gauge(out, forecastUnused, oneIf(e.Unused), labels...)
		gauge(out, leadTime, e.Lead.Seconds(), labels...)
		gauge(out, leadWindow, e.Window.Seconds(), labels...)
	}
	if !e.SampleTime.IsZero() {
		gauge(out, dataAge, now.Sub(e.SampleTime).Seconds(), labels...)
	}
	if answer, err := e.Answer(decide.Overrides{}, now); err == nil {
		gauge(out, servedDemand, answer.Value, labels...)
		for _, part := range e.Parts {
			gauge(out, servedVariant, part.Value, labels[0], labels[1], part.Name)
		}
	}
}

func collectState(out chan<- prometheus.Metric, is snapshot.State, labels []string) {
	for _, state := range allStates {
		gauge(out, forecastState, oneIf(state == is), labels[0], labels[1], string(state))
	}
}

func collectConditions(out chan<- prometheus.Metric, conditions []snapshot.Condition, labels []string) {
	for _, c := range conditions {
		gauge(out, forecastCondition, oneIf(c.True), labels[0], labels[1], c.Type)
	}
}

// collectCandidates sends the loss of each candidate, and the distribution of the selected one.
func collectCandidates(out chan<- prometheus.Metric, e *snapshot.ForecastSnapshot, labels []string) {
	for i := range e.Candidates {
		c := &e.Candidates[i]
		if c.Name == e.Model {
			collectWindows(out, c.Windows, labels)
		}
		gauge(out, candidateSelected, oneIf(c.Name == e.Model), labels[0], labels[1], c.Name)
		gauge(out, candidateLoss, c.Loss, labels[0], labels[1], c.Name)
	}
}

func collectWindows(out chan<- prometheus.Metric, windows []windowpeak.Window, labels []string) {
	for i := range windows {
		horizon := strconv.FormatFloat(windows[i].Horizon.Seconds(), 'f', -1, 64)
		for _, level := range levels {
			label := strconv.FormatFloat(level, 'f', -1, 64)
			gauge(out, forecastDemand, windows[i].Quantiles.At(level), labels[0], labels[1], label, horizon)
		}
	}
}

// oneIf converts a bool to the value of a gauge.
func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// gauge sends a value if it is known.
func gauge(out chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func counter(out chan<- prometheus.Metric, d *prometheus.Desc, value uint64, labels ...string) {
	total(out, d, float64(value), labels...)
}

func total(out chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, labels...)
}

// collectObjective sends the state of an objective. It sends nothing if the Forecast has no calibrated objective.
func collectObjective(out chan<- prometheus.Metric, r *objective.Report, labels []string) {
	if r == nil {
		return
	}
	if !(r.Price > 0) {
		collectLateness(out, r, labels)
	}
	if widest, ok := r.MostDemanding(); ok {
		gauge(out, headroomMultiplier, widest.Headroom, labels...)
		gauge(out, objectiveExpected, widest.ExpectedLate, labels...)
	}
	if r.Measured != nil {
		gauge(out, measuredLate, r.Measured.Late, labels...)
	}
	if d := r.Deferrable; d != nil {
		gauge(out, deferrableWaiting, d.Waiting*time.Hour.Seconds(), labels...)
		if d.Arrived > 0 {
			gauge(out, deferrableMissed, d.MissedShare(), labels...)
		}
	}
	for _, h := range r.Bad.Worst() {
		gauge(out, badHourLate, h.Late, labels[0], labels[1], h.Start.UTC().Format("2006-01-02T15:04Z"))
	}
	if r.Period <= 0 {
		return
	}
	gauge(out, simulatedWindow, r.Period.Seconds(), labels...)
	collectSimulated(out, r.Served, labels[0], labels[1], snapshot.PolicyServed)
	collectSimulated(out, r.Observed, labels[0], labels[1], snapshot.PolicyObserved)
	collectSimulated(out, r.Before.Account, labels[0], labels[1], snapshot.PolicyBefore)
	collectSimulated(out, r.Hindsight.Account, labels[0], labels[1], snapshot.PolicyHindsight)
}

// collectLateness sends the share of the demand that may be late, and whether the objective is met. With a cost ratio, there is neither.
func collectLateness(out chan<- prometheus.Metric, r *objective.Report, labels []string) {
	limit := objectiveLate
	if r.BadHours {
		limit = objectiveBadHours
	}
	gauge(out, limit, r.Late, labels...)
	if r.Period > 0 {
		gauge(out, budgetAllowed, r.Budget.Allowed*time.Hour.Seconds(), labels...)
		gauge(out, budgetSpent, r.Budget.Spent*time.Hour.Seconds(), labels...)
		gauge(out, burnRate, r.Budget.BurnHour, labels[0], labels[1], "1h")
		gauge(out, burnRate, r.Budget.BurnSixHours, labels[0], labels[1], "6h")
	}
	switch {
	case r.Verdict == objective.Met:
		gauge(out, objectiveMet, 1, labels...)
	case r.Verdict.Misses():
		gauge(out, objectiveMet, 0, labels...)
	}
}

// collectSpending sends the replica time of the simulated autoscalers, and its cost if there is a price.
func collectSpending(out chan<- prometheus.Metric, all []snapshot.Usage, labels []string) {
	for _, s := range all {
		by := []string{labels[0], labels[1], s.Policy, s.Variant}
		total(out, replicaSeconds, s.ReplicaHours*time.Hour.Seconds(), by...)
		if s.Price > 0 {
			total(out, costTotal, s.ReplicaHours*s.Price, by...)
		}
		if s.Price > 0 && s.Policy == snapshot.PolicyServed {
			gauge(out, hourlyCost, s.Price, labels[0], labels[1], s.Variant)
		}
	}
}

func collectSimulated(out chan<- prometheus.Metric, a objective.Account, labels ...string) {
	gauge(out, simulatedReplicas, a.ReplicaHours*time.Hour.Seconds(), labels...)
	gauge(out, simulatedCost, a.RelativeCost(), labels...)
	if a.Arrived > 0 {
		gauge(out, simulatedLate, a.LateShare(), labels...)
	}
}
