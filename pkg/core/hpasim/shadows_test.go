package hpasim_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpasim"
)

// drawn is a workload with one of the HPAs that there are: without a behavior and with one, of totals and of averages.
func drawn(rng *rand.Rand) hpasim.Spec {
	s := hpasim.Spec{
		Capacity: 10, Pod: hpasim.Constant(rng.IntN(5)) * hpasim.Constant(time.Minute),
		HPA: hpa.Spec{
			Min: 1, Max: 2 + rng.Int32N(20), Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: 10_000}},
		},
	}
	if rng.IntN(2) == 0 {
		s.HPA.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
		s.HPA.Behavior.Up.Stabilization = time.Duration(rng.IntN(3)) * time.Minute
		s.HPA.Behavior.Down.Stabilization = time.Duration(rng.IntN(9)) * time.Minute
		s.HPA.Behavior.Down.Policies = []hpa.Policy{{Type: hpa.Pods, Value: 1, Period: 2 * time.Minute}}
	}
	switch rng.IntN(4) {
	case 0:
		s.HPA.Metrics[0].Type = hpa.Value
	case 1:
		s.Pod = hpasim.LogNormal{Mean: time.Minute, Sigma: 0.5}
	case 2:
		s.Nodes = &hpasim.Nodes{Lead: hpasim.Constant(3 * time.Minute), Places: 3, Keep: 5 * time.Minute}
	}
	return s
}

// Shadows take short cuts where nothing moves. What they count is, to the last bit, what workloads played step by step add
// up to.
func TestShadowsAreWorkloads(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	start := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	late := 0.0
	for range 200 {
		spec, n := drawn(rng), 3
		syncs := 1 + rng.IntN(5)
		shadows, err := hpasim.NewShadows(spec, n, start, time.Duration(syncs)*hpasim.DefaultSync)
		if err != nil {
			t.Fatal(err)
		}
		demand := 100 * rng.Float64()
		var plain []*hpasim.Workload
		for range n {
			w, err := hpasim.New(spec, start, hpasim.DefaultSync, demand)
			if err != nil {
				t.Fatal(err)
			}
			plain = append(plain, w)
		}
		want := hpasim.Score{Late: make([]float64, n), Paid: make([]float64, n), Capped: make([]float64, n)}
		values := make([]float64, n)
		for range 200 {
			shadows.Play(values, demand)
			for i, w := range plain {
				for range syncs {
					count(&want, i, w.Step(values[i], demand), int(spec.HPA.Max))
				}
			}
			if rng.IntN(3) == 0 {
				demand = next(rng, demand)
			}
			for i := range values {
				if rng.IntN(2) == 0 {
					values[i] = demand * (0.8 + 0.4*float64(i))
				}
			}
		}
		got := shadows.Score()
		late += got.Late[0]
		want.Hours = got.Hours
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%+v (-want +got)\n%s", spec, diff)
		}
	}
	if !(late > 0) {
		t.Error("nothing was late: this test is about nothing")
	}
}

// next is the demand of a step later: mostly a little different, now and then a leap, nothing or not known.
func next(rng *rand.Rand, demand float64) float64 {
	switch rng.IntN(20) {
	case 0:
		return 300 * rng.Float64()
	case 1:
		return 0
	case 2:
		return math.NaN()
	}
	if math.IsNaN(demand) {
		return 50
	}
	return demand * (0.95 + 0.1*rng.Float64())
}

func count(s *hpasim.Score, i int, m hpasim.Moment, most int) {
	s.Late[i] += m.Late
	s.Paid[i] += float64(m.Held) * hpasim.DefaultSync.Hours()
	if m.Replicas >= most {
		s.Capped[i] += m.Late
	}
	if i == 0 {
		s.Arrived += m.Arrived
	}
}
