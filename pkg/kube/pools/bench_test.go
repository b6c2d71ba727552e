package pools_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

// still are pools that are read once, whose writes cost nothing.
type still struct {
	stored

	pools []*pools.Pool
}

func (s *still) List() []*pools.Pool { return s.pools }

// BenchmarkStep is a step over 200 pools of 20 members each with a day of recent demand, in mode Enforce, every one of which
// holds what it wants.
func BenchmarkStep(b *testing.B) {
	const many, members = 200, 20
	w := newWorld()
	w.places.ready = 1000
	all := still{stored: stored{objects: w.stored.objects}}
	entries := map[snapshot.Key]*snapshot.ForecastSnapshot{}
	for i := range many {
		var names strings.Builder
		for j := range members {
			name := fmt.Sprintf("f-%d-%d", i, j)
			fmt.Fprintf(&names, "  - {forecast: %s}\n", name)
			w.loads[name] = &load{demand: float64(20 + j), target: 10, placed: 2}
			e := w.entry(name, w.loads[name])
			e.Recent = forecast.Series{
				Start:  w.now.Add(-24 * time.Hour),
				Step:   5 * time.Minute,
				Values: make([]float64, 288),
			}
			for k := range e.Recent.Values {
				e.Recent.Values[k] = float64((k*(j+1))%17 + j)
			}
			e.StaleAt = w.now.Add(24 * 365 * time.Hour)
			entries[e.Key] = e
		}
		w.stored.put(b, fmt.Sprintf("p-%03d", i), strings.Replace(enforced, llama, "members:\n"+names.String(), 1))
	}
	all.pools = w.stored.List()
	w.snapshots.Publish(snapshot.New(w.now, entries, 0, snapshot.LoopStats{}))
	leader := pools.NewController(pools.Config{}, pools.Dependencies{
		Pools: &all, Snapshots: &w.snapshots, Workloads: w.loads, Actuator: &w.places,
	}, quiet())
	take := func() {
		w.now = w.now.Add(step)
		if err := leader.Step(b.Context(), w.now); err != nil {
			b.Fatal(err)
		}
	}
	for range 4 { // Until all have their finalizers, and a status.
		take()
		all.pools = w.stored.List()
	}
	for b.Loop() {
		take()
	}
}
