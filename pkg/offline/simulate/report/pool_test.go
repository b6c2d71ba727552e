package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// poolComparison is the comparison with a pool.
func poolComparison(t *testing.T) *compare.Comparison {
	t.Helper()
	c := comparison(t)
	trial := func(h compare.Holding, budget, hours, idle, late float64) compare.Trial {
		return compare.Trial{
			Policy: compare.Forewarm, Target: 1000, Holding: h, Budget: budget, MeetsObjective: late <= 0.01,
			Report: simulate.Report{
				Duration: 72 * time.Hour, ReplicaHours: hours, IdleReplicaHours: idle, Arrived: 1, Late: late,
				Started: 200, WaitedForNode: 50, NodeWait: 300 * time.Minute,
			},
		}
	}
	own := trial(compare.HoldPlanned, 20, 900, 30, 0.0095)
	own.OwnBudget, own.Pool = true, compare.PoolTally{All: 100, Covered: 64, FellBack: 7, OverBudget: 3}
	for i := range 300 {
		own.Timeline = append(own.Timeline, compare.Slot{
			Start: c.Assumptions.Start.Add(time.Duration(i) * 5 * time.Minute), Demand: 5, Ready: 6, Paid: 8,
			Idle: float64(i % 2 * 2),
		})
	}
	fixed := trial(compare.HoldFixed, 0, 950, 60, 0.009)
	fixed.FixedChunks, fixed.Hindsight = 4, true
	c.WarmPool = &compare.PoolResult{
		Pool: compare.Pool{
			Name: "WarmPool/h100 in pool.yaml", Member: "llama", Members: 3, Chunks: 0.5,
			Spec: warmpool.Pool{Quantile: 0.95, Min: 1, Max: 12, Fallback: 2, GPUs: 4, Budget: 20},
		},
		Members: 3,
		Trials: []compare.Trial{
			trial(compare.HoldNothing, 0, 1000, 0, 0.012), own, trial(compare.HoldPlanned, 0, 910, 40, 0.0094), fixed,
		},
		Verdict: "The pool pays, or so it is said <here>.",
		Notes:   []string{"Nothing is known of the others."},
	}
	return c
}

func TestTextOfAPool(t *testing.T) {
	t.Parallel()
	told := text(t, poolComparison(t), 90)
	for _, want := range []string{
		"The pool pays, or so it is said <here>.",
		"\nforewarm                           2,000 6,120      0.0 1.20% misses    25% 1.5\n",
		"\nforewarm, pool with 20.0/day (as written)", " 1,800 5,508     20.0        0.95%    25% 1.5\n",
		"\nforewarm, pool with no budget", "\nforewarm, 4 chunks at all times¹",
	} {
		if !strings.Contains(squeezed(told), squeezed(want)) {
			t.Errorf("not told: %s", want)
		}
	}
	words := strings.Join(strings.Fields(told), " ")
	for _, want := range []string{
		"with member llama. It covers the 0.95 quantile and holds 1 to 12 chunks, 2 as fallback, with a budget of 20.0 " +
			"idle GPU-hours a day. A replica takes 0.5 chunks of 4 GPUs each.", "Nothing is known of the others.",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("not told: %s", want)
		}
	}
	if t.Failed() {
		t.Log(told)
	}
	c := poolComparison(t)
	c.Assumptions.GPUPrice = 0
	if told := text(t, c, 90); strings.Contains(told, "$") {
		t.Errorf("dollars without a price:\n%s", told)
	}
	if c.WarmPool.Trials = nil; strings.Contains(text(t, c, 90), "Warm pool") {
		t.Error("a pool of which nothing was played")
	}
	if strings.Contains(text(t, comparison(t), 90), "Warm pool") {
		t.Error("a pool that nobody gave")
	}
}

// squeezed has one space where there are several.
func squeezed(text string) string {
	for strings.Contains(text, "  ") {
		text = strings.ReplaceAll(text, "  ", " ")
	}
	return text
}

func TestPageOfAPool(t *testing.T) {
	t.Parallel()
	p := parsed(t, poolComparison(t))
	sections := of(p.all("section"), "answer")
	if len(sections) != 1 {
		t.Fatalf("%d answers, want 1", len(sections))
	}
	idle := of(sections[0].all("path"), "idle")
	if len(idle) != 1 || len(sections[0].all("svg")) == 0 {
		t.Errorf("%d drawings of what stood idle, want 1", len(idle))
	}
	if got := of(parsed(t, comparison(t)).all("path"), "idle"); len(got) > 0 {
		t.Errorf("%d drawings of idle capacity without a pool", len(got))
	}
}

func TestJSONOfAPool(t *testing.T) {
	t.Parallel()
	read := object(t, poolComparison(t))
	w := under(t, read, "warm_pool")
	for name, want := range map[string]any{
		"pool": "WarmPool/h100 in pool.yaml", "members_played": 3., "idle_gpu_hours_per_day": 20., "chunks_per_replica": 0.5,
		"gpus_per_chunk": 4., "quantile": 0.95, "min": 1., "max": 12., "fallback": 2.,
	} {
		if w[name] != want {
			t.Errorf("%s is %v, want %v", name, w[name], want)
		}
	}
	trials := list(t, w, "trials")
	if len(trials) != 4 {
		t.Fatalf("%d trials", len(trials))
	}
	own, ok := trials[1].(map[string]any)
	if !ok {
		t.Fatal(trials[1])
	}
	for name, want := range map[string]any{
		"policy": "forewarm", "holding": "pool", "budget": 20., "as_written": true, "gpu_hours": 1800., "dollars": 5508.,
		"idle_gpu_hours": 60., "idle_gpu_hours_per_day": 20., "late_fraction": 0.0095, "starts": 200.,
		"starts_that_waited": 50., "mean_wait_seconds": 90., "covered_fraction": 0.64, "fallback_fraction": 0.07,
		"over_budget_fraction": 0.03, "meets_objective": true, "hindsight": false,
	} {
		if own[name] != want {
			t.Errorf("%s is %v, want %v", name, own[name], want)
		}
	}
	if _, there := object(t, comparison(t))["warm_pool"]; there {
		t.Error("a pool that nobody gave")
	}
}
