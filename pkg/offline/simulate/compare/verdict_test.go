package compare_test

import (
	"testing"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// did is a policy that took so many replica-hours of a thousand that were asked for, and was late by a share.
func did(name string, target, replicas, late float64) compare.Policy {
	return compare.Policy{
		Name: name, Target: target, Meets: late <= 0.01,
		Report: simulate.Report{Duration: 12 * day, Replicas: replicas, Arrived: 1000, Late: 1000 * late},
	}
}

func TestVerdict(t *testing.T) {
	const asItIs = " The HPA as it is written (64) would have taken 4,000 GPU-hours with 0% late."
	for _, tt := range []struct {
		name           string
		forewarm, best compare.Policy
		price          float64
		want           string
	}{
		{
			"saves", did(compare.Forewarm, 80, 1234.4, 0.0098), did(compare.BestTarget, 51.5, 1444, 0.0012), 0,
			"Forewarm saves: over 12 days it would have taken 2,469 GPU-hours, 419 or 14.5% fewer than this HPA with its best " +
				"target in hindsight (51.5), and 0.98% of the demand would have been late against 0.12%, where 1% may be." + asItIs,
		},
		{
			"costs more", did(compare.Forewarm, 80, 2000, 0), did(compare.BestTarget, 64, 1000, 0.01), 0,
			"Forewarm loses: over 12 days it would have taken 4,000 GPU-hours, 2,000 or 100.0% more than this HPA with its best " +
				"target in hindsight (64), and 0% of the demand would have been late against 1.00%, where 1% may be." + asItIs,
		},
		{
			"is late", did(compare.Forewarm, 80, 500, 0.25), did(compare.BestTarget, 64, 1000, 0.00001), 0,
			"Forewarm loses, as it misses the objective: over 12 days it would have taken 1,000 GPU-hours, 1,000 or 50.0% fewer " +
				"than this HPA with its best target in hindsight (64), and 25.0% of the demand would have been late against " +
				"<0.01%, where 1% may be." + asItIs,
		},
		{
			"is alone", did(compare.Forewarm, 80, 20, 0.01), did(compare.BestTarget, 16, 10, 0.02), 0,
			"Forewarm alone meets the objective: over 12 days it would have taken 40.0 GPU-hours, 20.0 or 100.0% more than this HPA " +
				"with its least late target in hindsight (16), and 1.00% of the demand would have been late against 2.00%, where 1% " +
				"may be." + asItIs,
		},
		{
			"both miss, at a price", did(compare.Forewarm, 80, 600_000, 0.03), did(compare.BestTarget, 16, 600_500, 0.02), 2.5,
			"Neither meets the objective: with Forewarm, over 12 days it would have taken 1,200,000 GPU-hours ($3,000,000), 1,000 ($2,500) or " +
				"0.08% fewer than this HPA with its least late target in hindsight (16), and 3.00% of the demand would have been " +
				"late against 2.00%, where 1% may be. The HPA as it is written (64) would have taken 4,000 GPU-hours ($10,000) " +
				"with 0% late.",
		},
	} {
		c := &compare.Comparison{
			Assumptions: compare.Assumptions{Objective: 0.01, GPUs: 2, GPUPrice: tt.price},
			Policies:    []compare.Policy{did(compare.HPA, 64, 2000, 0), tt.best, tt.forewarm},
		}
		if got := c.Judged(); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
	c := &compare.Comparison{
		Policies:    []compare.Policy{did(compare.HPA, 64, 2000, 0)},
		Assumptions: compare.Assumptions{GPUs: 2}, Partial: true,
	}
	if got := c.Judged(); got != "Interrupted before Forewarm could be compared."+asItIs {
		t.Error(got)
	}
}
