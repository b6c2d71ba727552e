package compare_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/verdict"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

var update = flag.Bool("update", false, "write the verdicts of testdata again")

// resultOf is a policy that took so many replica-hours of a thousand that were asked for, and was late by a share.
func resultOf(name string, target, replicas, late float64) compare.PolicyResult {
	return compare.PolicyResult{
		Name: name, Target: target, MeetsObjective: late <= 0.01,
		Report: simulate.Report{Duration: 12 * day, ReplicaHours: replicas, Arrived: 1000, Late: 1000 * late},
	}
}

// golden compares a text with a file of testdata: read the difference before you update it (-update).
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got)\n%s", file, diff)
	}
}

func TestVerdict(t *testing.T) {
	var got strings.Builder
	for _, tt := range []struct {
		name                     string
		price                    float64
		target, rival, rivalLate float64
		replicas, late           float64
	}{
		{"saves", 0, 51.5, 1444, 0.0012, 1234.4, 0.0098},
		{"costs more", 0, 64, 1000, 0.01, 2100, 0},
		{"is late", 0, 64, 1000, 0.00001, 500, 0.25},
		{"is alone", 0, 16, 10, 0.02, 20, 0.01},
		{"both miss, at a price", 2.5, 16, 600_500, 0.02, 600_000, 0.03},
	} {
		c := &compare.Comparison{
			Assumptions: compare.Assumptions{Objective: 0.01, GPUs: 2, GPUPrice: tt.price},
			Policies: []compare.PolicyResult{
				resultOf(compare.HPA, 64, 2000, 0), resultOf(compare.BestTarget, tt.target, tt.rival, tt.rivalLate),
				resultOf(compare.Forewarm, 80, tt.replicas, tt.late),
			},
		}
		c.Judge()
		fmt.Fprintf(&got, "%s: %s\n", tt.name, c.MakeVerdict())
	}
	c := &compare.Comparison{
		Policies:    []compare.PolicyResult{resultOf(compare.HPA, 64, 2000, 0)},
		Assumptions: compare.Assumptions{GPUs: 2}, Partial: true,
	}
	fmt.Fprintf(&got, "is not there: %s\n", c.MakeVerdict())
	golden(t, "verdicts.txt", got.String())
}

// bursts is days of a demand in minutes that is six times as high for ten minutes, at random.
func bursts(days int) forecast.Series {
	random := rand.New(rand.NewPCG(13, 14))
	s := forecast.Series{Start: start(), Step: time.Minute}
	for left := 0; s.Len() < days*24*60; left-- {
		v := 200.0
		if left > 0 {
			v = 1200
		} else if random.Float64() < 0.01 {
			left = 10
		}
		s.Values = append(s.Values, v)
	}
	return s
}

// A verdict may be against Forewarm; on a history that is too short there is none.
func TestVerdictAgainstForewarm(t *testing.T) {
	t.Parallel()
	c := config(bursts(6))
	c.Lead.P90 = 8 * time.Minute
	c.Only = []string{compare.HPA, compare.BestTarget, compare.Forewarm}
	got := played(t, c)
	if got.Judged.Word != verdict.TooLate || !strings.HasPrefix(got.Verdict, "Too late: ") ||
		len(got.Judged.Compared.Draws) != 8 {
		t.Error(got.Verdict)
	}
	c.TooShort = "Too short to judge: 6 hours, want a week."
	got = played(t, c)
	if got.Verdict != "" || got.NoVerdict != c.TooShort {
		t.Errorf("%q, %q", got.Verdict, got.NoVerdict)
	}
}

// What a pool loses is said first, and a cost alone decides nothing where one of the two misses the objective.
func TestPoolVerdict(t *testing.T) {
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
	var got strings.Builder
	for _, c := range []struct {
		name                 string
		without, withoutLate float64
		with, withLate       float64
		fixed, fixedLate     float64
	}{
		{"it pays", 1000, 0.9, 900, 0.9, 950, 0.9},
		{"a fixed number is cheaper", 1000, 0.9, 900, 0.9, 850, 0.9},
		{"it costs more", 1000, 0.9, 1100, 0.5, 1150, 0.9},
		{"it misses", 1000, 0.9, 900, 1.5, 1150, 1.9},
		{"it alone meets", 1000, 1.9, 1200, 0.5, 1150, 1.9},
		{"neither meets", 1000, 1.9, 900, 1.5, 850, 1.9},
		{"nothing changes", 1000, 0.9, 1000, 0.9, 1150, 0.9},
	} {
		of := &compare.Comparison{Assumptions: compare.Assumptions{GPUs: 2, GPUPrice: 2, Objective: 0.01}}
		fmt.Fprintf(&got, "%s: %s\n", c.name, of.PoolVerdict(&compare.PoolResult{Members: 1, Trials: []compare.Trial{
			trial(compare.HoldNothing, c.without, c.withoutLate), trial(compare.HoldPlanned, c.with, c.withLate),
			trial(compare.HoldFixed, c.fixed, c.fixedLate),
		}}))
	}
	golden(t, "pool_verdicts.txt", got.String())
}

// The headline is honest about histories that show little: too short, without anything late, or with nothing that is in time.
func TestHeadlinesOfOddHistories(t *testing.T) {
	t.Parallel()
	flat := func(hours int, v float64) forecast.Series {
		return forecast.Series{Start: start(), Step: time.Minute, Values: slices.Repeat([]float64{v}, hours*60)}
	}
	for name, tt := range map[string]struct {
		demand   forecast.Series
		word     verdict.Word
		headline string
	}{
		"five hours":      {flat(5, 300), verdict.TooEarly, "Too early for a verdict, which needs three days. Over 4.5 hours, Forewarm uses"},
		"a day":           {flat(24, 300), verdict.TooEarly, "Too early for a verdict, which needs three days. Over 21.6 hours, Forewarm uses"},
		"never late":      {flat(6*24, 310), verdict.Saves, "Forewarm is as reliable as your HPA and uses 20% fewer GPU-hours"},
		"never in time":   {flat(6*24, 20_000), verdict.TooLate, "Too late: 100% of the demand arrived in bad hours, but the objective allows only 1%."},
		"hardly anything": {flat(6*24, 0.001), verdict.NoDifference, "No difference: Forewarm is as reliable as your HPA and uses 0% fewer GPU-hours"},
	} {
		c := config(tt.demand)
		c.BadHours, c.Only = true, []string{compare.HPA, compare.BestTarget, compare.Forewarm}
		c.HPA.Metrics[0].Target = 65_000
		got := played(t, c)
		if got.Judged.Word != tt.word || !strings.HasPrefix(got.Verdict, tt.headline) {
			t.Errorf("%s: %s: %s", name, got.Judged.Word, got.Verdict)
		}
	}
}

// A demand that is far above what maxReplicas sustain is in another unit: there are figures, and no verdict, unless it is trusted.
func TestADemandInAnotherUnitHasNoVerdict(t *testing.T) {
	c := config(working(2))
	c.Only = []string{compare.HPA, compare.Forewarm}
	for i := range c.Demand.Values {
		c.Demand.Values[i] *= 1e9
	}
	got := played(t, c)
	const want = "replicas, but maxReplicas is 100. Either the demand is not in the unit of the replica capacity (100)"
	if !strings.Contains(got.Doubt, want) || got.NoVerdict != got.Doubt || got.Verdict != "" || len(got.Policies) != 2 {
		t.Errorf("%q, %q, %q with %d policies", got.Doubt, got.NoVerdict, got.Verdict, len(got.Policies))
	}
	c.TrustInput = true
	if got = played(t, c); got.Doubt != "" || got.Verdict == "" {
		t.Errorf("trusted: %q, %q", got.Doubt, got.Verdict)
	}
}
