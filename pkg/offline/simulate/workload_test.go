package simulate_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

const step = 15 * time.Second

// demand begins at noon and has steps of 15 s.
func demand(values ...float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC), Step: step, Values: values}
}

// config is a workload of 1 to 100 replicas that serve 1 each, without stabilization and tolerance, with a lead of 45 s.
func config(s forecast.Series) simulate.Config {
	c := simulate.Config{
		Demand: s, Spec: sim.Spec{Capacity: 1, HPA: stock(1.0/unit, 0), PodLead: sim.Constant(3 * step)},
	}
	c.HPA.Max, c.HPA.Cluster.Tolerance = 100, 0
	return c
}

// moments runs a policy and keeps every step.
func moments(t *testing.T, c simulate.Config, p simulate.Policy) ([]sim.StepResult, simulate.Report) {
	t.Helper()
	var out []sim.StepResult
	c.Record = func(m sim.StepResult) { out = append(out, m) }
	report, err := simulate.Run(c, p)
	if err != nil {
		t.Fatal(err)
	}
	return out, report
}

// column is one number of every moment.
func column[T any](all []sim.StepResult, of func(sim.StepResult) T) []T {
	var out []T
	for _, m := range all {
		out = append(out, of(m))
	}
	return out
}

// equal compares figures but for their last digits.
func equal[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

func replicas(m sim.StepResult) int { return m.Replicas }
func ready(m sim.StepResult) int    { return m.Ready }

// Ten replicas get 23⅓ for a step, then 30, then nothing: 200 replica-seconds are left over, then 500, a wait of 50 s. Of
// the second step's 450 two thirds met a wait over 30 s.
func TestQueue(t *testing.T) {
	c := config(demand(10+40.0/3, 30, 0, 0, 0, 0))
	c.HPA.Min, c.HPA.Max = 10, 10
	all, report := moments(t, c, simulate.NewObserved())
	inSeconds := func(of func(sim.StepResult) float64) []float64 {
		return column(all, func(m sim.StepResult) float64 { return 3600 * of(m) })
	}
	for name, columns := range map[string][2][]float64{
		"arrived": {{350, 450, 0, 0, 0, 0}, inSeconds(func(m sim.StepResult) float64 { return m.Arrived })},
		"backlog": {{200, 500, 350, 200, 50, 0}, inSeconds(func(m sim.StepResult) float64 { return m.Backlog })},
		"late":    {{0, 300, 0, 0, 0, 0}, inSeconds(func(m sim.StepResult) float64 { return m.Late })},
		"served":  {{150, 150, 150, 150, 150, 50}, inSeconds(func(m sim.StepResult) float64 { return m.Served })},
	} {
		equal(t, name, columns[0], columns[1])
	}
	equal(t, "late, of 800", 300.0/800, report.LateShare())
	equal(t, "cost", 10*6*15.0/800, report.RelativeCost())
}

// What would wait for more than two minutes leaves: one replica keeps 120 replica-seconds of 300 that are left over.
func TestQueueTimeout(t *testing.T) {
	c := config(demand(21, 0))
	c.HPA.Max = 1
	all, report := moments(t, c, simulate.NewObserved())
	equal(t, "replica-seconds that left unserved", 180.0, 3600*report.Dropped)
	equal(t, "the backlog a step later", 105.0, 3600*all[1].Backlog)
	equal(t, "the share that left unserved", 180.0/315, report.DroppedShare())
}

// The demand goes from 2 to 5 in the second step. The mean of the minute so far is 3.5 after it, 4 after the next, so the
// HPA asks for 4; a pod takes three steps.
func TestLead(t *testing.T) {
	all, report := moments(t, config(demand(2, 5, 5, 5, 5, 5, 5, 5, 5)), simulate.NewObserved())
	equal(t, "replicas", []int{2, 2, 4, 4, 5, 5, 5, 5, 5}, column(all, replicas))
	equal(t, "ready", []int{2, 2, 2, 2, 2, 4, 4, 5, 5}, column(all, ready))
	if report.Started != 3 || report.Stopped != 0 || report.Peak != 5 {
		t.Errorf("%d started, %d stopped, a peak of %d; want 3, 0, 5", report.Started, report.Stopped, report.Peak)
	}
}

// Pods that are not ready yet are the first to go, and those that were asked for last before the others.
func TestStop(t *testing.T) {
	c := config(demand(2, 2, 2, 2, 2, 2, 2))
	all, _ := moments(t, c, simulate.NewTape([]float64{2, 4, 6, 3, 3, 3, 1}))
	equal(t, "replicas", []int{2, 4, 6, 3, 3, 3, 1}, column(all, replicas))
	equal(t, "ready", []int{2, 2, 2, 2, 3, 3, 1}, column(all, ready))
}

// Nodes of two places take four steps to come and a pod then three. The three pods that are asked for at the second step
// send for two nodes, of which one place stays free. When two pods stop there are three, and after two steps a node's
// worth of them goes.
func TestNodes(t *testing.T) {
	c := config(demand(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
	c.Nodes = &sim.Nodes{Lead: sim.Constant(4 * step), PodsPerNode: 2, KeepIdle: 2 * step}
	all, _ := moments(t, c, simulate.NewTape([]float64{1, 4, 4, 4, 4, 4, 4, 4, 4, 2, 2, 2}))
	equal(t, "replicas", []int{1, 4, 4, 4, 4, 4, 4, 4, 4, 2, 2, 2}, column(all, replicas))
	equal(t, "ready", []int{1, 1, 1, 1, 1, 1, 1, 1, 4, 2, 2, 2}, column(all, ready))
	// A node that is under way costs nothing.
	held := column(all, func(m sim.StepResult) int { return m.Held })
	equal(t, "held", []int{1, 1, 1, 1, 1, 5, 5, 5, 5, 5, 5, 3}, held)
}

// From zero, what comes before the first pod is ready is late, and wakes the workload once.
func TestColdStart(t *testing.T) {
	c := config(demand(0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1))
	c.HPA.Min, c.HPA.Cluster.ScaleToZero, c.HPA.Behavior = 0, true, nil
	c.HPA.Cluster.DownscaleStabilization = 0
	values := []float64{0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1}
	all, report := moments(t, c, simulate.NewTape(values))
	// A workload that begins at zero was switched off by hand: an HPA leaves it there.
	if got := column(all, replicas); got[13] != 0 || report.ColdStarts != 1 {
		t.Errorf("replicas %v, %d cold starts", got, report.ColdStarts)
	}
	c.Demand = demand(1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1)
	all, report = moments(t, c, simulate.NewTape([]float64{1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1}))
	equal(t, "replicas", []int{1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1}, column(all, replicas))
	if report.ColdStarts != 2 {
		t.Errorf("%d cold starts, want 2", report.ColdStarts)
	}
	equal(t, "replica-seconds late while no one was there", 15.0, 3600*all[3].Late)
}

// A value that is not served is a reading that fails: the HPA keeps what there is.
func TestNoValue(t *testing.T) {
	all, _ := moments(t, config(demand(3, 3, 3, 3, 3)), simulate.NewTape([]float64{3, math.NaN(), -1, 1e300}))
	equal(t, "replicas", []int{3, 3, 3, 3, 3}, column(all, replicas))
}

// A policy is asked once a refresh, the HPA reads its last value at every sync.
func TestRefresh(t *testing.T) {
	c := config(demand(2, 2, 2, 2, 2, 2, 2, 2))
	c.Demand.Step, c.PodLead, c.Refresh = 5*time.Second, sim.Constant(0), 30*time.Second
	all, _ := moments(t, c, simulate.NewTape([]float64{3, 4}))
	equal(t, "ready", []int{3, 3, 3, 3, 3, 3, 4, 4}, column(all, ready))
}

func TestObservation(t *testing.T) {
	gap := math.NaN()
	var seen []simulate.Observation
	s := demand(1, 2, 3, 4, 5, gap, 7)
	if _, err := simulate.ServedValues(s, step, record{&seen}); err != nil {
		t.Fatal(err)
	}
	var means, arrived []float64
	for i, o := range seen {
		if want := s.TimeAt(i); !o.At.Equal(want) {
			t.Errorf("observation %d at %s, want %s", i, o.At, want)
		}
		means, arrived = append(means, o.Demand), append(arrived, o.Arrived)
	}
	equal(t, "means of a minute", []float64{gap, 1, 1.5, 2, 2.5, 3.5, gap}, means)
	equal(t, "arrived", []float64{gap, 1, 2, 3, 4, 5, gap}, arrived)
}

// record is a policy that keeps what it is told.
type record struct{ seen *[]simulate.Observation }

func (r record) Serve(o simulate.Observation) float64 {
	*r.seen = append(*r.seen, o)
	return 0
}

func TestValidateReportsEveryProblem(t *testing.T) {
	c := simulate.Config{
		Demand: demand(1, -1), Refresh: 30 * time.Second, WarmUp: -1,
		Spec: sim.Spec{
			Sync: 20 * time.Second, Wait: time.Minute, Timeout: time.Second, PodLead: sim.Empirical{},
			Nodes: &sim.Nodes{Lead: sim.LogNormal{Mean: time.Hour, Sigma: -1}},
			HPA:   hpa.Spec{Min: 1, Max: 1},
		},
	}
	_, err := simulate.Run(c, simulate.NewObserved())
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"no metric", "value 1 is -1", "HPA with 0 metrics", "capacity 0", "sync period 20s with step 15s",
		"a period of 30s with a step of 20s", "timeout 1s", "a warm-up of -1ns", "pod without measured lead times",
		"node lead time: sigma -1", "0 pods per node",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing of %q in %v", want, err)
		}
	}
}
