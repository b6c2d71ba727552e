package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// waiting is a workload without nodes whose replicas start in five minutes, with a deadline of ten.
func waiting() sim.Spec {
	s := onNodes()
	s.Nodes, s.PodLead, s.Deadline = nil, sim.Constant(5*time.Minute), 10*time.Minute
	return s
}

// Work gets what the demand leaves, the oldest first; what is not done at its deadline is missed then, and nothing is lost or doubled.
func TestWorkThatMayWait(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // The same loads each time.
	for range 50 {
		w := newWorkload(t, waiting(), 8)
		deadline := int(waiting().Deadline / step)
		var arrived, missed, spare float64
		for i := range 400 {
			demand, work := 4*rng.Float64(), 6*rng.Float64()*math.Round(rng.Float64())
			w.Defer(work)
			m := w.Step(8, demand)
			if m.Late > 0 {
				t.Fatalf("step %d: demand is late", i)
			}
			arrived, missed, spare = arrived+m.Deferrable, missed+m.Missed, spare+float64(m.Ready)*step.Hours()-m.Served
			if done := arrived - missed - m.Deferred; done < -1e-9 || done > spare+1e-9 {
				t.Fatalf("step %d: %v done in %v", i, done, spare)
			}
			if i < deadline && missed > 0 {
				t.Fatalf("step %d: missed before any deadline", i)
			}
		}
		w.Defer(0)
		for range deadline {
			if m := w.Step(8, 0); m.Missed > 0 && m.Deferred == 0 {
				t.Fatal("missed what does not wait")
			}
		}
		if m := w.Step(8, 0); m.Deferred > 0 {
			t.Fatalf("%v waits after its deadline", m.Deferred)
		}
	}
}

// Where the demand leaves nothing, what work needs is asked for in time; where it leaves enough, nothing is asked for.
func TestWorkIsPlannedIntoWhatIsLeft(t *testing.T) {
	const lead = 25 // steps: of five minutes and the HPA's next ones
	play := func(replicas, work float64, planned bool) (missed, arrived, paid float64) {
		s := waiting()
		w := newWorkload(t, s, replicas)
		for i := range 2000 {
			now := work
			if i < 400 || i > 1600 {
				now = 0
			}
			value := replicas
			if planned {
				value = math.Max(value, w.DeadlineFloor(4, replicas, lead))
			}
			w.Defer(now)
			m := w.Step(value, 4)
			missed, arrived, paid = missed+m.Missed, arrived+m.Deferrable, paid+float64(m.Held)*step.Hours()
		}
		return missed / arrived, arrived, paid
	}
	without, _, reactive := play(4, 3, false)
	with, arrived, paid := play(4, 3, true)
	if without < 0.9 || with > 0.06 || paid-reactive > 1.35*arrived {
		t.Errorf(
			"missed %v unplanned and %v planned, with %v replica-hours more for %v of work",
			without,
			with,
			paid-reactive,
			arrived,
		)
	}
	_, _, usual := play(8, 3, false)
	with, _, paid = play(8, 3, true)
	if with > 0 || paid != usual {
		t.Errorf("missed %v, with %v replica-hours where %v are there anyway", with, paid, usual)
	}
}
