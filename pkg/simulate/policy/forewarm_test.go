package policy_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/decide/margin"
	"github.com/forewarm/forewarm/pkg/decide/shape"
	"github.com/forewarm/forewarm/pkg/simulate"
	"github.com/forewarm/forewarm/pkg/simulate/policy"
)

// decision for a demand, without what was learnt on other workloads.
func decision(s forecast.Series) policy.Decision {
	c := shape.Config{Step: s.Step, Window: 7 * time.Minute}
	return policy.Decision{
		Shape: c, Prior: shape.Naive(shape.NewFeatures(c).Names()), Lead: 5 * time.Minute, Late: 0.01,
		Margin: margin.Prior(5 * time.Minute), Workload: workload(s),
	}
}

func forewarm(t *testing.T, d policy.Decision) *policy.Forewarm {
	t.Helper()
	p, err := policy.NewForewarm(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The floor: whatever is forecast, never less than what is observed.
func TestForewarmNeverServesLessThanIsObserved(t *testing.T) {
	s := daily(3, 5)
	observed := values(t, s, policy.NewObserved())
	for i, got := range values(t, s, forewarm(t, decision(s))) {
		if got < observed[i] {
			t.Fatalf("minute %d: serves %v of %v", i, got, observed[i])
		}
	}
}

// A larger multiple serves no less.
func TestForewarmIsMonotoneInK(t *testing.T) {
	s := daily(2, 6)
	var before []float64
	for _, k := range []float64{0.1, 1, 3, 10} {
		d := decision(s)
		d.K = k
		got := values(t, s, forewarm(t, d))
		for i := range before {
			if got[i] < before[i] {
				t.Fatalf("minute %d: k = %v serves %v, a smaller one %v", i, k, got[i], before[i])
			}
		}
		before = got
	}
}

// A workload is as late as it was asked to be, within what a week can tell, and the stricter objective costs more.
func TestForewarmMeetsItsObjective(t *testing.T) {
	s := daily(8, 7)
	var costs []float64
	for _, late := range []float64{0.003, 0.03} {
		d := decision(s)
		d.Late = late
		c := workload(s)
		c.WarmUp = 2 * day
		report, err := simulate.Run(c, forewarm(t, d))
		if err != nil {
			t.Fatal(err)
		}
		if got := report.LateShare(); got > 3*late {
			t.Errorf("asked for %v late, %v were", late, got)
		}
		costs = append(costs, report.Cost())
	}
	if !(costs[0] > costs[1]) {
		t.Errorf("costs %v, want the stricter objective to cost more", costs)
	}
}

func TestForewarmIsChecked(t *testing.T) {
	d := decision(daily(1, 8))
	for _, late := range []float64{0, 1, -1, math.NaN()} {
		d.Late = late
		if _, err := policy.NewForewarm(d); err == nil {
			t.Errorf("an objective of %v is no error", late)
		}
	}
}
