package refresh_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// What the simulated autoscalers take is counted by the hour, over rebuilds and changes of the object, and of the past nothing.
func TestSpendingIsCounted(t *testing.T) {
	job := jobWithVariants()
	for _, variants := range []bool{false, true} {
		if !variants {
			job.Variants, job.Price, job.Autoscalers = nil, 3, hpaWithMax(50)
		} else {
			job = jobWithVariants()
		}
		jobs := fixedJobs{job}
		loop, _ := newLoop(t, &demandSource{demand: daily}, jobs)
		spent := func(at time.Time) map[string]snapshot.Usage {
			out := map[string]snapshot.Usage{}
			for _, s := range entry(t, loop.Step(t.Context(), at), "llama").Usage {
				out[s.Policy+" "+s.Variant] = s
			}
			return out
		}
		served, priced := "served llama", "served llama"
		want := 4
		if variants {
			served, priced, want = "served llama", "served spot", 5
		}
		first := spent(noon)
		if len(first) != want || first[served].ReplicaHours != 0 ||
			first[priced].Price != map[bool]float64{false: 3, true: 1}[variants] {
			t.Fatalf("%v", first)
		}
		hours := 8 // Of which six pass to the next anchor.
		before := 0.0
		for at := noon; at.Before(noon.Add(time.Duration(hours) * time.Hour)); at = at.Add(5 * time.Minute) {
			if at.Equal(noon.Add(4 * time.Hour)) {
				jobs[0].Generation++
			}
			now := spent(at)[served].ReplicaHours
			if now < before {
				t.Fatalf("a counter falls from %v to %v", before, now)
			}
			before = now
		}
		last := spent(noon.Add(time.Duration(hours) * time.Hour))
		total := 0.0
		for _, s := range last {
			if s.Policy == "served" {
				total += s.ReplicaHours
			}
		}
		// The demand is that of 10 replicas at noon, and falls.
		if total < 5*float64(hours-1) || total > 20*float64(hours+1) || math.IsNaN(total) {
			t.Errorf("%v replica-hours in %d hours: %v", total, hours, last)
		}
	}
}
