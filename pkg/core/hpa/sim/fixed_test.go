package sim_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// onPlaces is the workload of onNodes on a number of places that never changes.
func onPlaces(places int) sim.Spec {
	s := onNodes()
	s.Nodes = &sim.Nodes{Places: places}
	return s
}

// Two workloads share five places, of which the second takes two for a replica. The first replicas have places, as far as there are any. A
// replica that finds none waits until another workload leaves one, and held places go to replicas that wait.
func TestFixedPlaces(t *testing.T) {
	large := onPlaces(5)
	large.Places = 2
	all, err := sim.NewShared([]sim.Spec{onPlaces(5), large}, noon(), step, []float64{2, 2})
	if err != nil {
		t.Fatal(err)
	}
	type both struct{ Left, Right replicas }
	play := func(left, right float64) both {
		return both{replicasOf(all[0].Step(left, 1)), replicasOf(all[1].Step(right, 1))}
	}
	got := []both{play(2, 2), play(1, 2), play(1, 2), play(1, 1)}
	all[0].Hold(9)
	got = append(got, play(1, 1), play(2, 1))
	want := []both{
		{replicas{2, 2, 2, 0, 0, 0}, replicas{2, 1, 3, 0, 0, 1}}, // the right one's second replica waits
		{replicas{1, 1, 1, 0, 0, 0}, replicas{2, 1, 4, 0, 0, 0}}, // and starts where the left one stopped
		{replicas{1, 1, 1, 0, 0, 0}, replicas{2, 1, 4, 0, 0, 0}},
		{replicas{1, 1, 1, 0, 0, 0}, replicas{1, 1, 4, 0, 0, 0}}, // its two places are free
		{replicas{1, 1, 1, 0, 0, 0}, replicas{1, 1, 4, 2, 0, 0}}, // no node is added for places that cannot be held
		{replicas{2, 1, 2, 0, 0, 0}, replicas{1, 1, 3, 1, 0, 0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The places are never exceeded, and as long as there are enough of them, replicas start as with unlimited places.
func TestFixedPlacesAreNeverExceeded(t *testing.T) {
	waited := false
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 11))
		places := 10 + rng.IntN(40)
		small, large := onPlaces(places), onPlaces(places)
		large.Places, large.Seed = 3, 1
		all, err := sim.NewShared([]sim.Spec{small, large}, noon(), step, []float64{5, 5})
		if err != nil {
			t.Fatal(err)
		}
		free := small
		free.Nodes = nil
		alone, enough := newWorkload(t, free, 5), true
		for i := range 500 {
			all[0].Hold(rng.IntN(20))
			value := 30 * rng.Float64()
			a, b := all[0].Step(value, value), all[1].Step(10*rng.Float64(), 1)
			used := a.Replicas - a.Waiting + 3*(b.Replicas-b.Waiting)
			if used+b.Idle > places || b.Held+a.Held != places {
				t.Fatalf("seed %d, step %d: %+v and %+v on %d places", seed, i, a, b, places)
			}
			c := alone.Step(value, value)
			enough = enough && a.Waiting == 0
			waited = waited || !enough
			if enough && (a.Ready != c.Ready || a.Late != c.Late) {
				t.Fatalf("seed %d, step %d: %+v, with unlimited places %+v", seed, i, a, c)
			}
		}
	}
	if !waited {
		t.Error("no replica waited for a place: this test proves nothing")
	}
}

func TestWrongPlaces(t *testing.T) {
	negative, none := onPlaces(-1), onPlaces(3)
	none.Places = -1
	for _, s := range []sim.Spec{negative, none} {
		if err := s.Validate(step); err == nil {
			t.Errorf("places %d of %d are accepted", s.Places, s.Nodes.Places)
		}
	}
}
