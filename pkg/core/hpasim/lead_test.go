package hpasim_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpasim"
)

// Draws stay within Longest and have the given mean.
func TestLeadDraws(t *testing.T) {
	for name, tt := range map[string]struct {
		lead    hpasim.LeadTime
		mean    time.Duration
		longest time.Duration
	}{
		"constant":                     {hpasim.Constant(time.Minute), time.Minute, time.Minute},
		"log-normal":                   {hpasim.LogNormal{Mean: time.Minute, Sigma: 0.3}, time.Minute, 6 * time.Minute},
		"log-normal without deviation": {hpasim.LogNormal{Mean: time.Minute}, time.Minute, 6 * time.Minute},
		"measured": {
			hpasim.Empirical{10 * time.Second, 20 * time.Second, time.Minute}, 30 * time.Second, time.Minute,
		},
		"measured, none": {hpasim.Empirical{}, 0, 0},
	} {
		if got := tt.lead.Longest(); got != tt.longest {
			t.Errorf("%s: at most %s, want %s", name, got, tt.longest)
		}
		if tt.longest == 0 {
			continue
		}
		random := rand.New(rand.NewPCG(1, 2))
		const draws = 20_000
		sum := 0.0
		for range draws {
			d := tt.lead.Draw(random)
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
