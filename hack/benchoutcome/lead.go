package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpasim"
)

// lead is how long pods take to start, by median and p90; a p90 of 0 means always the median.
type lead struct{ median, p90 time.Duration }

// leadOf reads 5m, or 5m,p90=8m.
func leadOf(text string) (lead, error) {
	median, rest, drawn := strings.Cut(text, ",")
	var l lead
	var err error
	if l.median, err = time.ParseDuration(median); err != nil || l.median < 0 {
		return l, fmt.Errorf("lead time of %s, want for example 5m, or 5m,p90=8m", text)
	}
	if !drawn {
		return l, nil
	}
	value, named := strings.CutPrefix(rest, "p90=")
	if l.p90, err = time.ParseDuration(value); err != nil || !named || l.p90 <= l.median || l.median == 0 {
		return l, fmt.Errorf("lead time of %s, want a p90 that is longer, for example 5m,p90=8m", text)
	}
	return l, nil
}

// String is what leadOf reads.
func (l lead) String() string {
	if l.p90 == 0 {
		return l.median.String()
	}
	return l.median.String() + ",p90=" + l.p90.String()
}

// planned is the lead time that policies plan with, as the server does: the p90.
func (l lead) planned() time.Duration { return max(l.median, l.p90) }

// pods are the lead times that are played.
func (l lead) pods() hpasim.LeadTime { return hpasim.Starts(l.median, l.p90) } //nolint:ireturn // What a workload.Spec holds.

// seeds of the draws: the n-th pod that a policy starts at a time takes as long as the n-th of every other policy at that time.
func (l lead) seeds() []uint64 {
	if l.p90 == 0 {
		return []uint64{0}
	}
	return []uint64{1, 2, 3}
}
