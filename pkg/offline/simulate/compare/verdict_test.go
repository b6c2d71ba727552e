package compare_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// resultOf is a policy that took so many replica-hours of a thousand that were asked for, and was late by a share.
func resultOf(name string, target, replicas, late float64) compare.PolicyResult {
	return compare.PolicyResult{
		Name: name, Target: target, MeetsObjective: late <= 0.01,
		Report: simulate.Report{Duration: 12 * day, ReplicaHours: replicas, Arrived: 1000, Late: 1000 * late},
	}
}

func TestVerdict(t *testing.T) {
	const asWritten = " Before, the HPA as written (64) would have used 4,000 GPU-hours with 0% late."
	for _, tt := range []struct {
		name           string
		forewarm, best compare.PolicyResult
		price          float64
		want           string
	}{
		{
			"saves", resultOf(compare.Forewarm, 80, 1234.4, 0.0098), resultOf(compare.BestTarget, 51.5, 1444, 0.0012), 0,
			"Forewarm saves. Over 12 days Forewarm would have used 2,469 GPU-hours: 419 or 14.5% fewer than this HPA with " +
				"its best target in hindsight (51.5). 0.98% of the demand would have been late, against 0.12%; the objective is " +
				"1%." + asWritten,
		},
		{
			"costs more", resultOf(compare.Forewarm, 80, 2000, 0), resultOf(compare.BestTarget, 64, 1000, 0.01), 0,
			"Forewarm loses: it costs more. Over 12 days Forewarm would have used 4,000 GPU-hours: 2,000 or 100.0% more than " +
				"this HPA with its best target in hindsight (64). 0% of the demand would have been late, against 1.00%; the " +
				"objective is 1%." + asWritten,
		},
		{
			"is late", resultOf(compare.Forewarm, 80, 500, 0.25), resultOf(compare.BestTarget, 64, 1000, 0.00001), 0,
			"Forewarm loses: it misses the objective. Over 12 days Forewarm would have used 1,000 GPU-hours: 1,000 or 50.0% " +
				"fewer than this HPA with its best target in hindsight (64). 25.0% of the demand would have been late, against " +
				"<0.01%; the objective is 1%." + asWritten,
		},
		{
			"is alone", resultOf(compare.Forewarm, 80, 20, 0.01), resultOf(compare.BestTarget, 16, 10, 0.02), 0,
			"Only Forewarm meets the objective. Over 12 days Forewarm would have used 40.0 GPU-hours: 20.0 or 100.0% more " +
				"than this HPA with its least late target in hindsight (16). 1.00% of the demand would have been late, against " +
				"2.00%; the objective is 1%." + asWritten,
		},
		{
			"both miss, at a price", resultOf(compare.Forewarm, 80, 600_000, 0.03), resultOf(compare.BestTarget, 16, 600_500, 0.02), 2.5,
			"Neither meets the objective. Over 12 days Forewarm would have used 1,200,000 GPU-hours ($3,000,000): 1,000 " +
				"($2,500) or 0.08% fewer than this HPA with its least late target in hindsight (16). 3.00% of the demand would " +
				"have been late, against 2.00%; the objective is 1%. Before, the HPA as written (64) would have used 4,000 GPU-hours " +
				"($10,000) with 0% late.",
		},
	} {
		c := &compare.Comparison{
			Assumptions: compare.Assumptions{Objective: 0.01, GPUs: 2, GPUPrice: tt.price},
			Policies:    []compare.PolicyResult{resultOf(compare.HPA, 64, 2000, 0), tt.best, tt.forewarm},
		}
		if got := c.MakeVerdict(); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
	c := &compare.Comparison{
		Policies:    []compare.PolicyResult{resultOf(compare.HPA, 64, 2000, 0)},
		Assumptions: compare.Assumptions{GPUs: 2}, Partial: true,
	}
	if got := c.MakeVerdict(); got != "Interrupted before Forewarm was compared."+asWritten {
		t.Error(got)
	}
}

// A verdict against Forewarm says why backtest may say the contrary; on a history that is too short there is neither.
func TestVerdictAgainstForewarm(t *testing.T) {
	t.Parallel()
	c := short()
	c.Only = []string{compare.BestTarget, compare.Forewarm}
	const why = `"forewarm backtest" may still find a model better than its baselines`
	got := played(t, c)
	if !strings.HasPrefix(got.Verdict, "Forewarm loses") || !strings.Contains(strings.Join(got.Notes, "\n"), why) {
		t.Errorf("%q, %q", got.Verdict, got.Notes)
	}
	c.TooShort = "Too short to judge: 6 hours, want a week."
	got = played(t, c)
	if got.Verdict != "" || got.TooShort != c.TooShort || strings.Contains(strings.Join(got.Notes, "\n"), why) {
		t.Errorf("%q, %q, %q", got.Verdict, got.TooShort, got.Notes)
	}
}

// What a pool loses is said first, and a cost alone decides nothing where one of the two misses the objective.
func TestPoolVerdict(t *testing.T) {
	t.Parallel()
	trial := func(h compare.Holding, hours, late float64) compare.Trial {
		return compare.Trial{
			Policy:         compare.Forewarm,
			Holding:        h,
			OwnBudget:      h == compare.HoldPlanned,
			FixedChunks:    3,
			MeetsObjective: late <= 1,
			Report: simulate.Report{
				Duration: 12 * day, ReplicaHours: hours, IdleReplicaHours: 10, Arrived: 100, Late: late, Started: 10,
				NodeWait: 20 * time.Minute,
			},
		}
	}
	const pays, fixed = "The pool pays. Over 12 days", "No fixed number of chunks is as good. The best in hindsight, 3 " +
		"chunks"
	for name, c := range map[string]struct {
		without, with, fixed compare.Trial
		want                 []string
	}{
		"it pays": {
			trial(compare.HoldNothing, 1000, 0.9), trial(compare.HoldPlanned, 900, 0.9), trial(compare.HoldFixed, 950, 0.9),
			[]string{
				pays, "1,800 GPU-hours ($3,600) with the pool, 20.0 of them idle: 200 ($400) or 10.0% fewer than without. 0.90% of " +
					"the demand would have been late, against 0.90% without. A new replica would have waited 2 min for a node, " +
					"against 2 min without.", fixed,
			},
		},
		"a fixed number is cheaper": {
			trial(compare.HoldNothing, 1000, 0.9), trial(compare.HoldPlanned, 900, 0.9), trial(compare.HoldFixed, 850, 0.9),
			[]string{"A fixed number of chunks is better. The best in hindsight, 3 chunks with Forewarm, would have used " +
				"1,700 GPU-hours ($3,400) with 0.90% late.", pays},
		},
		"it is dearer": {
			trial(compare.HoldNothing, 1000, 0.9), trial(compare.HoldPlanned, 1100, 0.5), trial(compare.HoldFixed, 1150, 0.9),
			[]string{"The pool costs more than it saves. ", fixed},
		},
		"it misses": {
			trial(compare.HoldNothing, 1000, 0.9), trial(compare.HoldPlanned, 900, 1.5), trial(compare.HoldFixed, 1150, 1.9),
			[]string{"The pool loses: with it, the objective is missed. ", fixed},
		},
		"it alone meets": {
			trial(compare.HoldNothing, 1000, 1.9), trial(compare.HoldPlanned, 1200, 0.5), trial(compare.HoldFixed, 1150, 1.9),
			[]string{"The pool pays: the objective is met only with it. ", "or 20.0% more than without", fixed},
		},
		"neither meets": {
			trial(compare.HoldNothing, 1000, 1.9), trial(compare.HoldPlanned, 900, 1.5), trial(compare.HoldFixed, 850, 1.9),
			[]string{"The pool saves, but the objective is missed with it and without it. ", fixed},
		},
		"nothing changes": {
			trial(compare.HoldNothing, 1000, 0.9), trial(compare.HoldPlanned, 1000, 0.9), trial(compare.HoldFixed, 1150, 0.9),
			[]string{"The pool changes nothing. ", fixed},
		},
	} {
		of := &compare.Comparison{Assumptions: compare.Assumptions{GPUs: 2, GPUPrice: 2, Objective: 0.01}}
		got := of.PoolVerdict(&compare.PoolResult{Members: 1, Trials: []compare.Trial{c.without, c.with, c.fixed}})
		at := 0
		for _, want := range c.want {
			i := strings.Index(got[at:], want)
			if i < 0 {
				t.Errorf("%s: %q does not follow in %q", name, want, got)
				break
			}
			at += i
		}
		if !strings.HasPrefix(got, c.want[0]) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
