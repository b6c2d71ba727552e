package hpasim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpasim"
)

const step = hpasim.DefaultSync

func noon() time.Time { return time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC) }

// onNodes is a workload of 1 to 50 replicas that serve 1 each and take two steps to start, on nodes of one place that take
// four and are kept for two.
func onNodes() hpasim.Spec {
	down := hpa.DefaultScaleDown()
	down.Stabilization = 0
	s := hpasim.Spec{
		Capacity: 1, Pod: hpasim.Constant(2 * step),
		Nodes: &hpasim.Nodes{Lead: hpasim.Constant(4 * step), Places: 1, Keep: 2 * step},
		HPA: hpa.Spec{
			Min: 1, Max: 50, Cluster: hpa.DefaultCluster(),
			Metrics:  []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: 1000}},
			Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
		},
	}
	s.HPA.Cluster.Tolerance = 0
	return s
}

func made(t *testing.T, s hpasim.Spec, demand float64) *hpasim.Workload {
	t.Helper()
	w, err := hpasim.New(s, noon(), step, demand)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// stand is a moment of those tests, in what is of interest here.
type stand struct{ Replicas, Ready, Held, Idle, Queued, Waiting int }

func standOf(m hpasim.Moment) stand {
	return stand{m.Replicas, m.Ready, m.Held, m.Idle, m.Queued, m.Waiting}
}

// Two places are held from the start on. Four steps later their nodes are there and paid for. Three replicas more find two
// of them at once and wait for a third place. Three nodes were sent for then: the pool refills with the two that are left.
func TestHold(t *testing.T) {
	t.Parallel()
	w := made(t, onNodes(), 1)
	w.Hold(2)
	var got []stand
	for _, value := range []float64{1, 1, 1, 1, 1, 4, 4, 4, 4, 4, 4, 4} {
		got = append(got, standOf(w.Step(value, 1)))
	}
	want := []stand{
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

// What replicas leave the pool takes, in place of a node that would have to come; what it holds no longer goes when a node
// would.
func TestHoldTakesWhatIsLeftAndGivesItBack(t *testing.T) {
	t.Parallel()
	w := made(t, onNodes(), 4)
	play := func(value float64) stand { return standOf(w.Step(value, 1)) }
	got := []stand{play(4), play(2)}
	w.Hold(1)
	for range 4 {
		got = append(got, play(2))
	}
	w.Hold(0)
	for range 3 {
		got = append(got, play(2))
	}
	want := []stand{
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

// Where more is held than is ever wanted, replicas start as if there were places always: only the lead time of a pod counts.
func TestHoldingEnoughIsAsIfThereAlwaysWerePlaces(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 9))
		spec := onNodes()
		spec.Nodes.Places = 1 + rng.IntN(3)
		spec.Nodes.Lead = hpasim.LogNormal{Mean: time.Minute, Sigma: 0.5}
		free := spec
		free.Nodes = nil
		a, b := made(t, spec, 5), made(t, free, 5)
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
				t.Fatalf("seed %d, step %d: %+v, where there always are places %+v", seed, i, x, y)
			}
		}
		if !(late > 0) {
			t.Errorf("seed %d: nothing was late: this test is about nothing", seed)
		}
	}
}

// A pool of nothing is no pool, to the last bit.
func TestHoldingNothingChangesNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 10))
		spec := onNodes()
		spec.Nodes.Lead, spec.Nodes.Places = hpasim.LogNormal{Mean: time.Minute, Sigma: 0.5}, 1+rng.IntN(3)
		a, b := made(t, spec, 5), made(t, spec, 5)
		for i := range 600 {
			value := 30 * rng.Float64()
			a.Hold(-rng.IntN(2))
			if x, y := a.Step(value, value), b.Step(value, value); x != y {
				t.Fatalf("seed %d, step %d: %+v, without a pool %+v", seed, i, x, y)
			}
		}
	}
}

// account says what does not add up in a step.
func account(m *hpasim.Moment, s hpasim.Standing, hold int) error {
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

// FuzzHold holds more and less while replicas come and go.
func FuzzHold(f *testing.F) {
	f.Add([]byte{3, 200, 0, 7, 7, 255, 90, 1}, uint8(2), uint8(3), uint8(0))
	f.Add([]byte{0, 0, 50, 50, 50, 0, 0, 0, 0, 0}, uint8(1), uint8(0), uint8(9))
	f.Fuzz(func(t *testing.T, moves []byte, places, lead, keep uint8) {
		spec := onNodes()
		spec.Nodes = &hpasim.Nodes{
			Lead:   hpasim.Empirical{0, time.Duration(lead) * time.Second},
			Places: 1 + int(places%5), Keep: time.Duration(1+int(keep)) * step,
		}
		w := made(t, spec, 3)
		for _, b := range moves {
			hold := int(b % 16)
			w.Hold(hold)
			m := w.Step(float64(b/16)*4, float64(b/16)*4)
			if err := account(&m, w.Standing(), hold); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Two workloads share their nodes: what one leaves the other takes, and what is held is there for whoever comes first.
func TestTogether(t *testing.T) {
	t.Parallel()
	all, err := hpasim.Together(onNodes(), noon(), step, []float64{3, 1})
	if err != nil {
		t.Fatal(err)
	}
	type both struct{ Left, Right stand }
	play := func(left, right float64) both {
		return both{standOf(all[0].Step(left, 1)), standOf(all[1].Step(right, 1))}
	}
	got := []both{play(3, 1), play(1, 3)}
	all[0].Hold(1)
	for range 5 {
		got = append(got, play(1, 3))
	}
	got = append(got, play(1, 4))
	want := []both{
		{stand{3, 3, 3, 0, 0, 0}, stand{1, 1, 1, 0, 0, 0}},
		{stand{1, 1, 1, 0, 0, 0}, stand{3, 1, 3, 0, 0, 0}}, // two places change hands
		{stand{1, 1, 1, 0, 0, 0}, stand{3, 1, 3, 0, 0, 0}}, // a place is sent for
		{stand{1, 1, 1, 0, 0, 0}, stand{3, 3, 3, 0, 0, 0}},
		{stand{1, 1, 1, 0, 0, 0}, stand{3, 3, 3, 0, 0, 0}},
		{stand{1, 1, 1, 0, 0, 0}, stand{3, 3, 3, 0, 0, 0}},
		{stand{1, 1, 1, 0, 0, 0}, stand{3, 3, 4, 1, 0, 0}}, // it is there
		{stand{1, 1, 1, 0, 0, 0}, stand{4, 3, 4, 0, 0, 0}}, // and taken
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, w := range all {
		if s := w.Standing(); s.Held != 0 || s.Waiting != 0 {
			t.Errorf("workload %d: %+v, want that the place is gone", i, s)
		}
	}
}

// A guest that asks for nothing changes nothing for the other, to the last bit.
func TestTogetherWithOneThatIsIdle(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 5))
	spec := onNodes()
	spec.HPA.Min, spec.HPA.Cluster.ScaleToZero = 0, true
	spec.Nodes.Lead, spec.Nodes.Places = hpasim.LogNormal{Mean: time.Minute, Sigma: 0.5}, 2
	all, err := hpasim.Together(spec, noon(), step, []float64{5, 0})
	if err != nil {
		t.Fatal(err)
	}
	alone := made(t, spec, 5)
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

// However they share, no place is had twice: what is paid for are the replicas that have one, what is held and what is free.
func TestTogetherAddsUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 6))
		spec := onNodes()
		spec.Nodes.Lead, spec.Nodes.Places = hpasim.Empirical{0, time.Minute, 3 * time.Minute}, 1+rng.IntN(4)
		all, err := hpasim.Together(spec, noon(), step, []float64{5, 1, 9})
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
				s := w.Standing()
				placed, waiting = placed+s.Placed, waiting+s.Waiting
			}
			if held < placed+idle || idle != all[0].Standing().Held || idle > hold || waiting < 0 {
				t.Fatalf("seed %d, step %d: %d paid for, %d replicas have a place, %d idle of %d to be held, %d wait",
					seed, i, held, placed, idle, hold, waiting)
			}
		}
		if queued == 0 {
			t.Errorf("seed %d: nobody ever waited for a node", seed)
		}
	}
}
