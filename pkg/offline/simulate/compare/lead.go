package compare

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// LeadTime is the lead time of a replica.
type LeadTime struct {
	// Median is what half of the starts take at most.
	Median time.Duration
	// P90 is the 0.9 quantile; with 0, all starts take the same.
	P90 time.Duration
	// Known is its source: "given", or "measured on 40 starts".
	Known string
}

func (l LeadTime) validate() error {
	if l.Median < 0 || l.Median == 0 && l.P90 > 0 {
		return fmt.Errorf("a lead time of %s, want 0 or more, and more than 0 beside a p90", l.Median)
	}
	if l.P90 != 0 && l.P90 < l.Median {
		return fmt.Errorf("a lead time of %s and a p90 of %s, want the p90 no shorter", l.Median, l.P90)
	}
	return nil
}

// pods are the lead times that are played.
func (l LeadTime) pods() sim.LeadTime { return sim.Starts(l.Median, l.P90) } //nolint:ireturn // What a Spec holds.

// planned is the lead time that policies look ahead by: the p90.
func (l LeadTime) planned() time.Duration { return max(l.Median, l.P90) }

// String is "5m0s (given)", or "5m0s, p90 8m0s (given)".
func (l LeadTime) String() string {
	text := l.Median.String()
	if l.P90 > l.Median {
		text += ", p90 " + l.P90.String()
	}
	if l.Known != "" {
		text += " (" + l.Known + ")"
	}
	return text
}
