package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// Draws stay within Longest and have the given mean.
func TestLeadDraws(t *testing.T) {
	for name, tt := range map[string]struct {
		lead    sim.LeadTime
		mean    time.Duration
		longest time.Duration
	}{
		"constant":                     {sim.Constant(time.Minute), time.Minute, time.Minute},
		"log-normal":                   {sim.LogNormal{Mean: time.Minute, Sigma: 0.3}, time.Minute, 6 * time.Minute},
		"log-normal without deviation": {sim.LogNormal{Mean: time.Minute}, time.Minute, 6 * time.Minute},
		"measured": {
			sim.Empirical{10 * time.Second, 20 * time.Second, time.Minute}, 30 * time.Second, time.Minute,
		},
		"measured, none": {sim.Empirical{}, 0, 0},
	} {
		if got := sim.Longest(tt.lead); got != tt.longest {
			t.Errorf("%s: at most %s, want %s", name, got, tt.longest)
		}
		if tt.longest == 0 {
			continue
		}
		random := rand.New(rand.NewPCG(1, 2))
		const draws = 20_000
		sum := 0.0
		for range draws {
			d := sim.Draw(tt.lead, random)
			if d <= 0 || d > tt.longest {
				t.Fatalf("%s: drew %s", name, d)
			}
			sum += d.Seconds() / draws
		}
		// The deviation of one draw is at most 0.75 of the mean: four standard errors.
		if !(math.Abs(sum/tt.mean.Seconds()-1) <= 4*0.75/math.Sqrt(draws)) {
			t.Errorf("%s: a mean of %v s, want %s", name, sum, tt.mean)
		}
	}
}

// Starts are log-normal between their median and their 0.9 quantile.
func TestStarts(t *testing.T) {
	const median, p90 = 5 * time.Minute, 8 * time.Minute
	random := rand.New(rand.NewPCG(1, 2))
	const draws = 20_000
	under, within := 0, 0
	for range draws {
		d := sim.Draw(sim.Starts(median, p90), random)
		if d <= median {
			under++
		}
		if d <= p90 {
			within++
		}
	}
	if math.Abs(float64(under)/draws-0.5) > 0.02 || math.Abs(float64(within)/draws-0.9) > 0.02 {
		t.Errorf("%d of %d up to the median, %d up to the 0.9 quantile", under, draws, within)
	}
	for _, c := range []struct{ median, p90, want time.Duration }{
		{0, p90, p90}, {median, median, median}, {median, 0, median}, {0, 0, 0},
	} {
		if got := sim.Starts(c.median, c.p90); got != sim.Constant(c.want) {
			t.Errorf("median %s and 0.9 quantile %s: %v, want %s always", c.median, c.p90, got, c.want)
		}
	}
}

// A simulation that begins later draws the same for the starts that both have; another seed draws others.
func TestDrawsBelongToStarts(t *testing.T) {
	const minute = time.Minute
	begin := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	played := func(seed uint64, skipped int) []sim.StepResult {
		spec := onNodes()
		spec.Nodes, spec.PodLead, spec.Seed, spec.Sync = nil, sim.Starts(5*minute, 8*minute), seed, minute
		all, err := sim.New(spec, begin.Add(time.Duration(skipped)*minute), minute, []float64{10})
		if err != nil {
			t.Fatal(err)
		}
		var out []sim.StepResult
		for i := skipped; i < 600; i++ {
			demand := 10.0
			if i >= 300 && i/60%2 == 0 {
				demand = 40
			}
			if r := all[0].Step(demand, demand); i >= 300 {
				out = append(out, r)
			}
		}
		return out
	}
	if diff := cmp.Diff(played(7, 0), played(7, 133)); diff != "" {
		t.Error("one that begins 133 minutes later:", diff)
	}
	if cmp.Diff(played(7, 0), played(8, 0)) == "" {
		t.Error("another seed changes nothing")
	}
}
