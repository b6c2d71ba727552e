package compare_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// What a pool loses is said first, and a cost alone decides nothing where one of the two misses the objective.
func TestWarmVerdict(t *testing.T) {
	t.Parallel()
	trial := func(h compare.Holding, hours, late float64) compare.Trial {
		return compare.Trial{
			Policy: compare.Forewarm, Holding: h, Own: h == compare.Planned, Spare: 3, Meets: late <= 1,
			Report: simulate.Report{
				Duration: 12 * day, Replicas: hours, Idle: 10, Arrived: 100, Late: late, Started: 10,
				Waiting: 20 * time.Minute,
			},
		}
	}
	const pays, fixed = "The pool pays: over 12 days", "Nothing fixed is as good: 3 chunks"
	for name, c := range map[string]struct {
		without, with, fixed compare.Trial
		want                 []string
	}{
		"it pays": {
			trial(compare.None, 1000, 0.9), trial(compare.Planned, 900, 0.9), trial(compare.Fixed, 950, 0.9),
			[]string{
				pays, "1,800 GPU-hours ($3,600) with it, 20.0 idle among them, 200 ($400) or 10.0% fewer than without",
				"with 0.90% late against 0.90%; a new replica would have waited 2 min for a node against 2 min.", fixed,
			},
		},
		"a fixed number is cheaper": {
			trial(compare.None, 1000, 0.9), trial(compare.Planned, 900, 0.9), trial(compare.Fixed, 850, 0.9),
			[]string{"The pool loses to a fixed number: 3 chunks at all times beside Forewarm, the best in hindsight, would have " +
				"taken 1,700 GPU-hours ($3,400) with 0.90% late.", pays},
		},
		"it is dearer": {
			trial(compare.None, 1000, 0.9), trial(compare.Planned, 1100, 0.5), trial(compare.Fixed, 1150, 0.9),
			[]string{"The pool costs more than it saves: ", fixed},
		},
		"it misses": {
			trial(compare.None, 1000, 0.9), trial(compare.Planned, 900, 1.5), trial(compare.Fixed, 1150, 1.9),
			[]string{"The pool loses, as with it the objective is missed: ", fixed},
		},
		"it alone meets": {
			trial(compare.None, 1000, 1.9), trial(compare.Planned, 1200, 0.5), trial(compare.Fixed, 1150, 1.9),
			[]string{"The pool pays, as only with it the objective is met: ", "or 20.0% more than without", fixed},
		},
		"neither meets": {
			trial(compare.None, 1000, 1.9), trial(compare.Planned, 900, 1.5), trial(compare.Fixed, 850, 1.9),
			[]string{"The pool saves, but the objective is missed with it and without: ", fixed},
		},
		"nothing changes": {
			trial(compare.None, 1000, 0.9), trial(compare.Planned, 1000, 0.9), trial(compare.Fixed, 1150, 0.9),
			[]string{"The pool changes nothing: ", fixed},
		},
	} {
		of := &compare.Comparison{Assumptions: compare.Assumptions{GPUs: 2, GPUPrice: 2, Objective: 0.01}}
		got := of.WarmVerdict(&compare.Warm{Members: 1, Trials: []compare.Trial{c.without, c.with, c.fixed}})
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
