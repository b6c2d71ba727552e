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

// pooled is a workload of half a replica a chunk, on nodes that take four minutes, with a pool of three members.
func pooled(long time.Duration, members int) compare.Config {
	c := config(working(3).Slice(0, int(long/time.Minute)))
	c.Lead = compare.Lead{Median: 2 * time.Minute, Known: "given"}
	c.Node = &compare.Lead{Median: 4 * time.Minute, Known: "given"}
	c.GPUs = 4
	c.Pool = &compare.Pool{
		Name: "WarmPool/h100", Member: "llama", Members: members, Chunks: 0.5,
		Asked: warmpool.Pool{Quantile: 0.95, Max: 4, GPUs: 8, Budget: 100},
	}
	return c
}

// A pool beside none, under budgets, and beside what is fixed: all that is told of it adds up.
func TestWarmPool(t *testing.T) {
	t.Parallel()
	last, all := 0, 0
	c, err := compare.Compare(
		t.Context(),
		pooled(54*time.Hour, 2),
		func(done, total int, _ string) { last, all = done, total },
	)
	if err != nil {
		t.Fatal(err)
	}
	if last != all || all == 0 {
		t.Errorf("the progress ends at %d of %d", last, all)
	}
	w := c.Warm
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
		got = append(got, row{one.Policy, one.Holding, one.Budget, one.Own})
		r := &one.Report
		if one.Meets != (r.LateShare() <= 0.01) || one.Own != (len(one.Course) > 0) {
			t.Errorf("%+v: late %v, a course of %d slots", got[i], r.LateShare(), len(one.Course))
		}
		if r.Idle < 0 || r.Idle > r.Replicas || r.Queued > r.Started || one.Holding == compare.None && r.Idle > 0 {
			t.Errorf(
				"%+v: %v idle of %v replica-hours, %d of %d starts waited",
				got[i],
				r.Idle,
				r.Replicas,
				r.Queued,
				r.Started,
			)
		}
		if want := r.Idle / 2; !(math.Abs(one.IdlePerDay()-want) < 1e-9) {
			t.Errorf("%+v: %v idle a day, want %v over two days", got[i], one.IdlePerDay(), want)
		}
	}
	want := []row{
		{compare.HPA, compare.None, 0, false},
		{compare.BestTarget, compare.None, 0, false},
		{compare.Forewarm, compare.None, 0, false},
		{compare.Forewarm, compare.Planned, 50, false},
		{compare.Forewarm, compare.Planned, 100, true},
		{compare.Forewarm, compare.Planned, 200, false},
		{compare.Forewarm, compare.Planned, 0, false},
		{compare.Forewarm, compare.Fixed, 0, false},
		{compare.BestTarget, compare.Fixed, 0, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(w.Verdict, "for 2 members alike") || !strings.Contains(w.Verdict, " idle among them, ") {
		t.Error(w.Verdict)
	}
	notes := strings.Join(w.Notes, "\n")
	for _, want := range []string{"room for 2 replicas", "The history is that of llama", "the pool covered what could be wanted"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not said:\n%s", want, notes)
		}
	}
	if c.Assumptions.LeadTime != "2m0s, given; of a node before that 4m0s, given" {
		t.Error(c.Assumptions.LeadTime)
	}
}

// Nodes alone, without a pool: every policy waits for them, and nothing is told of a pool.
func TestNodesWithoutAPool(t *testing.T) {
	t.Parallel()
	c := short()
	c.Only, c.Node = []string{compare.HPA}, &compare.Lead{Median: 4 * time.Minute}
	got := played(t, c)
	if r := named(t, got, compare.HPA).Report; got.Warm != nil || r.Queued == 0 || r.MeanWait() > 4*time.Minute {
		t.Errorf("%d of %d starts waited for a node, %s on average", r.Queued, r.Started, r.MeanWait())
	}
}

// The same bits with any number of workers. A history that is too short for a forecaster is played with the fallback.
func TestWarmPoolRepeatsItself(t *testing.T) {
	t.Parallel()
	one, many := pooled(8*time.Hour, 1), pooled(8*time.Hour, 1)
	one.Demand, many.Demand = short().Demand, short().Demand
	one.Workers, many.Workers = 1, 5
	one.Pool.Asked.Fallback, many.Pool.Asked.Fallback = 2, 2
	first := played(t, one)
	if second := played(t, many); !reflect.DeepEqual(first, second) {
		t.Errorf("%+v\n%+v", first, second)
	}
	isTheComparison(t, first)
	notes := strings.Join(first.Warm.Notes, "\n")
	for _, want := range []string{"fell back on 2 chunks", "Alone it shares nothing"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not said:\n%s", want, notes)
		}
	}
}

// isTheComparison: with one member forewarm without its pool is what the comparison plays, to the last bit.
func isTheComparison(t *testing.T, c *compare.Comparison) {
	t.Helper()
	for _, one := range c.Warm.Trials {
		if one.Holding != compare.None || one.Hindsight {
			continue
		}
		a, b := one.Report, named(t, c, one.Policy).Report
		if a.Replicas != b.Replicas || a.Late != b.Late || a.Queued != b.Queued || a.Waiting != b.Waiting {
			t.Errorf("%s: %+v, in the comparison %+v", one.Policy, a, b)
		}
	}
}

// Of an interrupted comparison what there is of the pool is right, and the verdict says that it is not all.
func TestWarmPoolInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := pooled(25*time.Hour, 1)
	c.Workers = 2
	got, err := compare.Compare(ctx, c, func(_, _ int, what string) {
		if what == compare.WarmPool {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Partial || got.Warm == nil || got.Warm.Verdict != "Interrupted before the pool could be compared." {
		t.Errorf("%+v", got.Warm)
	}
}

func TestWarmPoolThatCannotBePlayed(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*compare.Config){
		"without the lead time of a node":                                      func(c *compare.Config) { c.Node = nil },
		"a replica of 3 GPUs, and of 0.5 chunks of 8 GPUs each: want the same": func(c *compare.Config) { c.GPUs = 3 },
		"replicas of 0 chunks of 8 GPUs":                                       func(c *compare.Config) { c.Pool.Chunks = 0 },
		"a pool of 5 to 4 chunks":                                              func(c *compare.Config) { c.Pool.Asked.Min, c.Pool.Asked.Max = 5, 4 },
		"nodes: a lead time of -1s":                                            func(c *compare.Config) { c.Node.Median = -time.Second },
	} {
		c := pooled(day, 1)
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
