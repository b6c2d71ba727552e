package compare_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// poolConfig is a workload of half a replica a chunk, on nodes that take four minutes, with a pool of three members.
func poolConfig(long time.Duration, members int) compare.Config {
	c := config(working(3).Slice(0, int(long/time.Minute)))
	c.Lead = compare.LeadTime{Median: 2 * time.Minute, Known: "given"}
	c.Node = &compare.LeadTime{Median: 4 * time.Minute, Known: "given"}
	c.GPUs = 4
	c.Pool = &compare.Pool{
		Name: "WarmPool/h100", Member: "llama", Members: members, Chunks: 0.5,
		Spec: warmpool.Pool{Quantile: 0.95, Max: 4, GPUs: 8, Budget: 100},
	}
	return c
}

// A pool compared with none, under budgets, and with fixed sizes: all that is told of it adds up.
func TestWarmPool(t *testing.T) {
	if testing.Short() {
		t.Skip("two days with a pool; shorter ones are played")
	}
	t.Parallel()
	last, all := 0, 0
	c, err := compare.Compare(t.Context(), poolConfig(54*time.Hour, 2),
		func(done, total int, _ string) { last, all = done, total })
	if err != nil {
		t.Fatal(err)
	}
	if last != all || all == 0 {
		t.Errorf("the progress ends at %d of %d", last, all)
	}
	w := c.WarmPool
	if w == nil || w.Members != 2 {
		t.Fatalf("%+v", w)
	}
	type row struct {
		Policy  string
		Holding compare.Holding
		Budget  float64
		Own     bool
	}
	var got []row
	for i := range w.Trials {
		one := &w.Trials[i]
		got = append(got, row{one.Policy, one.Holding, one.Budget, one.OwnBudget})
		r := &one.Report
		if one.MeetsObjective != (r.LateShare() <= 0.01) || one.OwnBudget != (len(one.Timeline) > 0) {
			t.Errorf("%+v: late %v, a course of %d slots", got[i], r.LateShare(), len(one.Timeline))
		}
		if r.IdleReplicaHours < 0 || r.IdleReplicaHours > r.ReplicaHours || r.WaitedForNode > r.Started ||
			one.Holding == compare.HoldNothing && r.IdleReplicaHours > 0 {
			t.Errorf("%+v: %v idle of %v replica-hours, %d of %d starts waited", got[i], r.IdleReplicaHours,
				r.ReplicaHours, r.WaitedForNode, r.Started)
		}
		if want := r.IdleReplicaHours / 2; !(math.Abs(one.IdlePerDay()-want) < 1e-9) {
			t.Errorf("%+v: %v idle a day, want %v over two days", got[i], one.IdlePerDay(), want)
		}
	}
	want := []row{
		{compare.HPA, compare.HoldNothing, 0, false},
		{compare.BestTarget, compare.HoldNothing, 0, false},
		{compare.Forewarm, compare.HoldNothing, 0, false},
		{compare.Forewarm, compare.HoldPlanned, 50, false},
		{compare.Forewarm, compare.HoldPlanned, 100, true},
		{compare.Forewarm, compare.HoldPlanned, 200, false},
		{compare.Forewarm, compare.HoldPlanned, 0, false},
		{compare.Forewarm, compare.HoldFixed, 0, false},
		{compare.BestTarget, compare.HoldFixed, 0, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(w.Verdict, " for 2 members, including ") ||
		!strings.Contains(w.Verdict, " idle GPU-hours. That is ") {
		t.Error(w.Verdict)
	}
	notes := strings.Join(w.Notes, "\n")
	for _, want := range []string{"room for 2 replicas", "The history is the history of llama", "the pool covered all " +
		"replicas that could be needed"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not said:\n%s", want, notes)
		}
	}
	if c.Assumptions.LeadTime != "2m0s (given); node: 4m0s (given)" {
		t.Error(c.Assumptions.LeadTime)
	}
}

// Nodes alone, without a pool: every policy waits for them, and nothing is told of a pool.
func TestNodesWithoutAPool(t *testing.T) {
	t.Parallel()
	c := short()
	c.Only, c.Node = []string{compare.HPA}, &compare.LeadTime{Median: 4 * time.Minute}
	got := played(t, c)
	if r := named(t, got, compare.HPA).Report; got.WarmPool != nil || r.WaitedForNode == 0 ||
		r.MeanNodeWait() > 4*time.Minute {
		t.Errorf("%d of %d starts waited for a node, %s on average", r.WaitedForNode, r.Started, r.MeanNodeWait())
	}
}

// The same bits with any number of workers. A history that is too short for a forecaster is played with the fallback.
func TestWarmPoolIsDeterministic(t *testing.T) {
	t.Parallel()
	one, many := poolConfig(8*time.Hour, 1), poolConfig(8*time.Hour, 1)
	one.Demand, many.Demand = short().Demand, short().Demand
	one.Workers, many.Workers = 1, 5
	one.Pool.Spec.Fallback, many.Pool.Spec.Fallback = 2, 2
	first := played(t, one)
	if second := played(t, many); !reflect.DeepEqual(first, second) {
		t.Errorf("%+v\n%+v", first, second)
	}
	isTheComparison(t, first)
	notes := strings.Join(first.WarmPool.Notes, "\n")
	for _, want := range []string{"the pool held its fallback of 2 chunks", "so the pool is not shared"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not said:\n%s", want, notes)
		}
	}
}

// isTheComparison: with one member forewarm without its pool is what the comparison plays, to the last bit.
func isTheComparison(t *testing.T, c *compare.Comparison) {
	t.Helper()
	for _, one := range c.WarmPool.Trials {
		if one.Holding != compare.HoldNothing || one.Hindsight {
			continue
		}
		a, b := one.Report, named(t, c, one.Policy).Report
		if a.ReplicaHours != b.ReplicaHours || a.Late != b.Late || a.WaitedForNode != b.WaitedForNode ||
			a.NodeWait != b.NodeWait {
			t.Errorf("%s: %+v, in the comparison %+v", one.Policy, a, b)
		}
	}
}

// Of an interrupted comparison what there is of the pool is right, and the verdict says that it is not all.
func TestWarmPoolInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := poolConfig(25*time.Hour, 1)
	c.Workers = 2
	got, err := compare.Compare(ctx, c, func(_, _ int, what string) {
		if what == compare.WarmPool {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Partial || got.WarmPool == nil ||
		got.WarmPool.Verdict != "The simulation was interrupted before the pool was compared." {
		t.Errorf("%+v", got.WarmPool)
	}
}

func TestWarmPoolThatCannotBePlayed(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*compare.Config){
		"a warm pool needs the lead time of a node":                  func(c *compare.Config) { c.Node = nil },
		"a replica has 3 GPUs but takes 0.5 chunks with 8 GPUs each": func(c *compare.Config) { c.GPUs = 3 },
		"a replica takes 0 chunks with 8 GPUs":                       func(c *compare.Config) { c.Pool.Chunks = 0 },
		"a pool of 5 to 4 chunks":                                    func(c *compare.Config) { c.Pool.Spec.Min, c.Pool.Spec.Max = 5, 4 },
		"nodes: a lead time of -1s":                                  func(c *compare.Config) { c.Node.Median = -time.Second },
	} {
		c := poolConfig(day, 1)
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
