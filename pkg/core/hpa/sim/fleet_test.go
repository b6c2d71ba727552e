package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// A fleet of one is a workload; of two, the queue has the capacity of both.
func TestFleet(t *testing.T) {
	spec := onNodes()
	spec.Nodes, spec.PodLead = nil, sim.Constant(5*time.Minute)
	one, err := sim.NewFleet([]sim.Spec{spec}, noon(), step, []float64{4})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorkload(t, spec, 4)
	large := spec
	large.Capacity = 3
	two, err := sim.NewFleet([]sim.Spec{spec, large}, noon(), step, []float64{4, 3})
	if err != nil {
		t.Fatal(err)
	}
	late := 0.0
	for i := range 200 {
		demand := 4 + 3*math.Sin(float64(i)/20)
		want := w.Step(demand, demand)
		got, _ := one.Step([]float64{demand}, demand)
		want.Idle, want.Queued, want.Waiting = got.Idle, got.Queued, got.Waiting
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("step %d: %s", i, diff)
		}
		late += got.Late
		all, each := two.Step([]float64{4, 3}, demand)
		if all.Ready != each[0].Ready+each[1].Ready ||
			all.Late > 0 != (all.Backlog > 30*float64(each[0].Ready+3*each[1].Ready)/3600) && all.Late > 0 {
			t.Fatalf("step %d: %+v", i, all)
		}
	}
	if late == 0 {
		t.Error("nothing is late: this test proves nothing")
	}
}

// Replicas are lost as often as is said, each is started again, and the same seed loses the same.
func TestInterruptions(t *testing.T) {
	spec := onNodes()
	spec.Nodes, spec.PodLead, spec.Interruptions, spec.Seed = nil, sim.Constant(time.Minute), 0.5, 7
	play := func() (lost int, ready float64) {
		w := newWorkload(t, spec, 8)
		before := 8
		const steps = 20_000
		for range steps {
			m := w.Step(8, 0)
			lost += max(before-m.Ready, 0)
			before = m.Ready
			ready += float64(m.Ready) / steps
			if m.Replicas != 8 {
				t.Fatalf("%d replicas, want 8", m.Replicas)
			}
		}
		return lost, ready
	}
	lost, ready := play()
	again, _ := play()
	hours := 20_000 * step.Hours() * ready
	if want := 0.5 * hours; math.Abs(float64(lost)-want) > 4*math.Sqrt(want) || lost != again {
		t.Errorf("%d and %d are lost, want %v", lost, again, want)
	}
	if ready > 8-8*0.5/60*0.8 {
		t.Errorf("%v are ready: none were away", ready)
	}
	spec.Interruptions = -1
	if err := spec.Validate(step); err == nil {
		t.Error("fewer than none are accepted")
	}
}
