package main

import (
	"fmt"
	"math"
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

// normal90 is the 90 % quantile of a standard Gaussian.
const normal90 = 1.2815515655446004

// pods are the lead times that are played: log-normal with this median and p90, as package compare draws them.
func (l lead) pods() hpasim.LeadTime { //nolint:ireturn // What a workload.Spec holds.
	if l.p90 == 0 {
		return hpasim.Constant(l.median)
	}
	sigma := math.Log(l.p90.Seconds()/l.median.Seconds()) / normal90
	return hpasim.LogNormal{Mean: time.Duration(float64(l.median) * math.Exp(sigma*sigma/2)), Sigma: sigma}
}

// seeds of the draws: the n-th pod that a policy starts takes as long as the n-th of every other policy.
func (l lead) seeds() []uint64 {
	if l.p90 == 0 {
		return []uint64{0}
	}
	return []uint64{1, 2, 3}
}
