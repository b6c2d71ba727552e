package warmpool_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// BenchmarkPlan plans 200 pools of 20 members, each with a day of history of its own. The goal is 50 ms.
func BenchmarkPlan(b *testing.B) {
	const pools, size = 200, 20
	now := time.Date(2026, time.March, 4, 14, 30, 0, 0, time.UTC)
	p := warmpool.Pool{
		Quantile: 0.95,
		Max:      100,
		GPUs:     8,
		Budget:   100,
		Split:    true,
		Pod:      3 * time.Minute,
		Node:     5 * time.Minute,
	}
	all := make([][]warmpool.Member, pools)
	for i := range all {
		for j := range size {
			all[i] = append(all[i], wandering(fmt.Sprintf("member-%d", j), uint64(i*size+j), now))
		}
	}
	memories := make([]warmpool.Memory, pools)
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(15 * time.Second)
		for i := range all {
			_, memories[i] = memories[i].Plan(now, p, all[i], warmpool.Capacity{Held: 5, Ready: 5})
		}
	}
	if ms := float64(b.Elapsed().Milliseconds()) / float64(b.N); ms > 0 {
		b.ReportMetric(ms, "ms/200pools")
	}
}

// wandering is a member with a day of random demand.
func wandering(name string, seed uint64, now time.Time) warmpool.Member {
	rng := rand.New(rand.NewPCG(seed, 8))
	recent := forecast.Series{Step: 5 * time.Minute, Values: make([]float64, 288)}
	recent.Start = now.Truncate(recent.Step).Add(-288 * recent.Step)
	level := 0.0
	for i := range recent.Values {
		level = 0.9*level + 0.1*rng.NormFloat64()
		recent.Values[i] = 4000 * math.Exp(level)
	}
	return warmpool.Member{
		Name: name, Chunks: 1, Target: 1000, MaxReplicas: 40, Placed: 4,
		Outlook: warmpool.Outlook{Served: 3900, Observed: 3500, Windows: windows(4000, 100), Recent: recent},
	}
}

// windows are those of a random walk: normal, with the given spread at one minute.
func windows(level, spread float64) []windowpeak.Window {
	scores := windowpeak.Quantiles{-1.6449, -0.6745, 0, 0.6745, 0.8416, 1.2816, 1.6449, 1.96, 2.3263, 2.5758}
	var out []windowpeak.Window
	for _, minutes := range []float64{0.5, 4.25, 9.25, 18.5, 60} {
		w := windowpeak.Window{Horizon: time.Duration(minutes * float64(time.Minute))}
		for i, z := range scores {
			w.Quantiles[i] = max(0, level+spread*math.Sqrt(minutes)*(0.6+z))
		}
		out = append(out, w)
	}
	return out
}
