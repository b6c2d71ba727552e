package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

const step = sim.DefaultSync

func noon() time.Time { return time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC) }

// onNodes is a workload of 1 to 50 replicas with capacity 1 and a lead time of two steps, on nodes of one place that
// take four steps and are kept for two.
func onNodes() sim.Spec {
	down := hpa.DefaultScaleDown()
	down.Stabilization = 0
	s := sim.Spec{
		Capacity: 1, PodLead: sim.Constant(2 * step),
		Nodes: &sim.Nodes{Lead: sim.Constant(4 * step), PodsPerNode: 1, KeepIdle: 2 * step},
		HPA: hpa.Spec{
			Min: 1, Max: 50, Cluster: hpa.DefaultCluster(),
			Metrics:  []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: 1000}},
			Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
		},
	}
	s.HPA.Cluster.Tolerance = 0
	return s
}

func newWorkload(t *testing.T, s sim.Spec, demand float64) *sim.Workload {
	t.Helper()
	all, err := sim.New(s, noon(), step, []float64{demand})
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// replicas is the part of a StepResult that these tests compare.
type replicas struct{ Replicas, Ready, Held, Idle, Queued, Waiting int }

func replicasOf(m sim.StepResult) replicas {
	return replicas{m.Replicas, m.Ready, m.Held, m.Idle, m.Queued, m.Waiting}
}

// Two places are held from the start. Four steps later their nodes are ready and paid for. Three more replicas take
// both places, and one waits. Three nodes are then requested: two refill the pool.
func TestHold(t *testing.T) {
	w := newWorkload(t, onNodes(), 1)
	w.Hold(2)
	var got []replicas
	for _, value := range []float64{1, 1, 1, 1, 1, 4, 4, 4, 4, 4, 4, 4} {
		got = append(got, replicasOf(w.Step(value, 1)))
	}
	want := []replicas{
		{1, 1, 1, 0, 0, 0},
		{1, 1, 1, 0, 0, 0},
		{1, 1, 1, 0, 0, 0},
		{1, 1, 1, 0, 0, 0},
		{1, 1, 3, 2, 0, 0}, // the nodes are there
		{4, 1, 3, 0, 1, 1}, // two start, one waits
		{4, 1, 3, 0, 0, 1},
		{4, 3, 3, 0, 0, 1},
		{4, 3, 3, 0, 0, 1},
		{4, 3, 6, 2, 0, 0}, // a place for the third and two for the pool
		{4, 3, 6, 2, 0, 0},
		{4, 4, 6, 2, 0, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The pool takes places that replicas leave before it requests nodes. Places no longer held expire like idle nodes.
func TestHoldTakesFreePlacesAndReleasesThem(t *testing.T) {
	w := newWorkload(t, onNodes(), 4)
	play := func(value float64) replicas { return replicasOf(w.Step(value, 1)) }
	got := []replicas{play(4), play(2)}
	w.Hold(1)
	for range 4 {
		got = append(got, play(2))
	}
	w.Hold(0)
	for range 3 {
		got = append(got, play(2))
	}
	want := []replicas{
		{4, 4, 4, 0, 0, 0},
		{2, 2, 4, 0, 0, 0}, // two stopped: their nodes are kept for two steps
		{2, 2, 4, 1, 0, 0},
		{2, 2, 3, 1, 0, 0},
		{2, 2, 3, 1, 0, 0},
		{2, 2, 3, 1, 0, 0},
		{2, 2, 3, 0, 0, 0}, // held no longer, and kept for two steps more
		{2, 2, 3, 0, 0, 0},
		{2, 2, 2, 0, 0, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// If more places are held than are ever used, replicas start as with unlimited places: only the pods' lead time counts.
func TestHoldingEnoughEqualsUnlimitedNodes(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 9))
		spec := onNodes()
		spec.Nodes.PodsPerNode = 1 + rng.IntN(3)
		spec.Nodes.Lead = sim.LogNormal{Mean: time.Minute, Sigma: 0.5}
		free := spec
		free.Nodes = nil
		a, b := newWorkload(t, spec, 5), newWorkload(t, free, 5)
		a.Hold(100)
		late, demand := 0.0, 5.0
		for i := range 600 {
			value := demand
			if i < 60 { // Until the nodes are there.
				value = 5
			} else if rng.IntN(10) == 0 {
				demand = 60 * rng.Float64()
			}
			x, y := a.Step(value, demand), b.Step(value, demand)
			late += x.Late
			if x.Replicas != y.Replicas || x.Ready != y.Ready || x.Late != y.Late || x.Waiting > 0 || x.Queued > 0 {
				t.Fatalf("seed %d, step %d: %+v, with unlimited places %+v", seed, i, x, y)
			}
		}
		if !(late > 0) {
			t.Errorf("seed %d: no late demand: this test proves nothing", seed)
		}
	}
}

// Holding 0 places changes nothing, to the last bit.
func TestHoldingNothingChangesNothing(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 10))
		spec := onNodes()
		spec.Nodes.Lead, spec.Nodes.PodsPerNode = sim.LogNormal{Mean: time.Minute, Sigma: 0.5}, 1+rng.IntN(3)
		a, b := newWorkload(t, spec, 5), newWorkload(t, spec, 5)
		for i := range 600 {
			value := 30 * rng.Float64()
			a.Hold(-rng.IntN(2))
			if x, y := a.Step(value, value), b.Step(value, value); x != y {
				t.Fatalf("seed %d, step %d: %+v, without a pool %+v", seed, i, x, y)
			}
		}
	}
}

// checkResult returns what is inconsistent in a step.
func checkResult(m *sim.StepResult, s sim.Placement, hold int) error {
	switch {
	case m.Idle < 0 || m.Idle > hold:
		return fmt.Errorf("%d idle, %d are to be held", m.Idle, hold)
	case m.Held < m.Replicas-m.Waiting+m.Idle:
		return fmt.Errorf("%d paid for, of which %d idle, and %d replicas of which %d wait",
			m.Held, m.Idle, m.Replicas, m.Waiting)
	case m.Waiting > 0 && m.Idle > 0:
		return fmt.Errorf("%d wait while %d places are held for them", m.Waiting, m.Idle)
	case m.Queued > m.Started || m.Queued > m.Waiting:
		return fmt.Errorf("%d of %d started found no place, %d wait", m.Queued, m.Started, m.Waiting)
	case s.Placed+s.Waiting != m.Replicas || s.Held != m.Idle || s.Waiting != m.Waiting:
		return fmt.Errorf("%+v and %+v differ", s, m)
	}
	return nil
}

// FuzzHold changes the held places while replicas start and stop.
func FuzzHold(f *testing.F) {
	f.Add([]byte{3, 200, 0, 7, 7, 255, 90, 1}, uint8(2), uint8(3), uint8(0))
	f.Add([]byte{0, 0, 50, 50, 50, 0, 0, 0, 0, 0}, uint8(1), uint8(0), uint8(9))
	f.Fuzz(func(t *testing.T, moves []byte, places, lead, keep uint8) {
		spec := onNodes()
		spec.Nodes = &sim.Nodes{
			Lead:        sim.Empirical{0, time.Duration(lead) * time.Second},
			PodsPerNode: 1 + int(places%5), KeepIdle: time.Duration(1+int(keep)) * step,
		}
		w := newWorkload(t, spec, 3)
		for _, b := range moves {
			hold := int(b % 16)
			w.Hold(hold)
			m := w.Step(float64(b/16)*4, float64(b/16)*4)
			if err := checkResult(&m, w.Placement(), hold); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Two workloads share nodes: the places that one leaves the other takes, and a held place serves the first that needs
// it.
func TestSharedNodes(t *testing.T) {
	all, err := sim.New(onNodes(), noon(), step, []float64{3, 1})
	if err != nil {
		t.Fatal(err)
	}
	type both struct{ Left, Right replicas }
	play := func(left, right float64) both {
		return both{replicasOf(all[0].Step(left, 1)), replicasOf(all[1].Step(right, 1))}
	}
	got := []both{play(3, 1), play(1, 3)}
	all[0].Hold(1)
	for range 5 {
		got = append(got, play(1, 3))
	}
	got = append(got, play(1, 4))
	want := []both{
		{replicas{3, 3, 3, 0, 0, 0}, replicas{1, 1, 1, 0, 0, 0}},
		{replicas{1, 1, 1, 0, 0, 0}, replicas{3, 1, 3, 0, 0, 0}}, // two places change hands
		{replicas{1, 1, 1, 0, 0, 0}, replicas{3, 1, 3, 0, 0, 0}}, // a place is sent for
		{replicas{1, 1, 1, 0, 0, 0}, replicas{3, 3, 3, 0, 0, 0}},
		{replicas{1, 1, 1, 0, 0, 0}, replicas{3, 3, 3, 0, 0, 0}},
		{replicas{1, 1, 1, 0, 0, 0}, replicas{3, 3, 3, 0, 0, 0}},
		{replicas{1, 1, 1, 0, 0, 0}, replicas{3, 3, 4, 1, 0, 0}}, // it is there
		{replicas{1, 1, 1, 0, 0, 0}, replicas{4, 3, 4, 0, 0, 0}}, // and taken
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, w := range all {
		if s := w.Placement(); s.Held != 0 || s.Waiting != 0 {
			t.Errorf("workload %d: %+v, want that the place is gone", i, s)
		}
	}
}

// A second workload without demand changes nothing for the first, to the last bit.
func TestSharedNodesWithAnIdleWorkload(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	spec := onNodes()
	spec.HPA.Min, spec.HPA.Cluster.ScaleToZero = 0, true
	spec.Nodes.Lead, spec.Nodes.PodsPerNode = sim.LogNormal{Mean: time.Minute, Sigma: 0.5}, 2
	all, err := sim.New(spec, noon(), step, []float64{5, 0})
	if err != nil {
		t.Fatal(err)
	}
	alone := newWorkload(t, spec, 5)
	for i := range 800 {
		value := 30 * rng.Float64()
		if i%7 == 0 {
			hold := rng.IntN(9)
			all[0].Hold(hold)
			alone.Hold(hold)
		}
		x, y := all[0].Step(value, value), alone.Step(value, value)
		guest := all[1].Step(0, 0)
		if x.Held+guest.Held != y.Held || guest.Idle != y.Idle {
			t.Fatalf("step %d: %d and %d paid for, alone %d", i, x.Held, guest.Held, y.Held)
		}
		if x.Held, x.Idle = y.Held, y.Idle; x != y {
			t.Fatalf("step %d: %+v, alone %+v; the guest %+v", i, x, y, guest)
		}
	}
}

// No place is counted twice: places paid for are those of replicas, held and free.
func TestSharedNodesAddUp(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 6))
		spec := onNodes()
		spec.Nodes.Lead, spec.Nodes.PodsPerNode = sim.Empirical{0, time.Minute, 3 * time.Minute}, 1+rng.IntN(4)
		all, err := sim.New(spec, noon(), step, []float64{5, 1, 9})
		if err != nil {
			t.Fatal(err)
		}
		queued := 0
		for i := range 500 {
			hold := rng.IntN(12)
			all[0].Hold(hold)
			placed, waiting, held, idle := 0, 0, 0, 0
			for _, w := range all {
				m := w.Step(40*rng.Float64(), 1)
				held, idle, queued = held+m.Held, idle+m.Idle, queued+m.Queued
			}
			for _, w := range all {
				s := w.Placement()
				placed, waiting = placed+s.Placed, waiting+s.Waiting
			}
			if held < placed+idle || idle != all[0].Placement().Held || idle > hold || waiting < 0 {
				t.Fatalf("seed %d, step %d: %d paid for, %d replicas have a place, %d idle of %d to be held, %d wait",
					seed, i, held, placed, idle, hold, waiting)
			}
		}
		if queued == 0 {
			t.Errorf("seed %d: no pod ever waited for a node", seed)
		}
	}
}
