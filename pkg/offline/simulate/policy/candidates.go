package policy

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// Candidate is a reactive rule: the maximum observed over the time Hold, over a target of Share of a replica's capacity.
type Candidate struct {
	Hold  time.Duration
	Share float64
}

// AllCandidates are those that a Tuned chooses among: without hold, 5 and 30 minutes, at targets from 20 % to 100 %.
func AllCandidates() []Candidate {
	var out []Candidate
	for _, hold := range []time.Duration{0, 5 * time.Minute, 30 * time.Minute} {
		for percent := 20; percent <= 100; percent += 5 {
			out = append(out, Candidate{Hold: hold, Share: float64(percent) / 100})
		}
	}
	return out
}

// Scores are the lateness and the cost of each candidate, as shares of the demand.
type Scores struct {
	Late, Cost []float64
}

// withoutStabilization is an HPA that follows its metric down at once: the hold is in the candidate's value.
func withoutStabilization(spec hpa.Spec) hpa.Spec {
	behavior := hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
	if spec.Behavior != nil {
		behavior = *spec.Behavior
	}
	behavior.Down.Stabilization = 0
	spec.Behavior = &behavior
	return spec
}
