package compare_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

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
