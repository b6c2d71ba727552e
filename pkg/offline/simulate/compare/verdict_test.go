package compare_test

import (
	"strings"
	"testing"

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
