package objective_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/verdict"
)

// The autoscaler before is what an HPA with its target and the stock scale-down is, although it reads a scaled demand.
func TestBeforeIsAnHPAWithItsTarget(t *testing.T) {
	demand := days(3, 11)
	c := config(t, 0.01)
	c.Baseline = decide.Baseline{Target: 9.5, Min: 4}
	p := newPlayer(t, c)
	play(p, demand)

	spec := autoscaler(1000).Spec
	spec.HPA.Min, spec.HPA.Behavior, spec.PassDeadBand = 4, nil, false
	spec.HPA.Metrics = []hpa.Metric{{Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: 9_500}}
	one, err := sim.NewSimulation(spec, 1, time.Time{}, step)
	if err != nil {
		t.Fatal(err)
	}
	const hours = 71 // The first step is not played.
	for i := 1; i <= hours*60; i++ {
		one.Play([]float64{demand[i-1]}, demand[i])
	}
	got := p.Report()
	want := one.Score()
	if got.BeforeAssumed || got.Before.Target != 9.5 || math.Abs(got.Before.ReplicaHours/want.Paid[0]-1) > 1e-6 ||
		!(want.Late[0] > 0) ||
		math.Abs(got.Before.LateShare()-want.Late[0]/want.Arrived) > 1e-6 ||
		got.Period.Hours() != hours {
		t.Errorf("%+v over %s, want %v replica-hours, %v late", got.Before, got.Period, want.Paid[0],
			want.Late[0]/want.Arrived)
	}
}

// The best target in hindsight is no later than asked, or than Forewarm, and never more expensive than the one before if that is not.
func TestBestTargetInHindsight(t *testing.T) {
	c := config(t, 0.01)
	p := newPlayer(t, c)
	play(p, days(4, 12))
	r := p.Report()
	if !r.BeforeAssumed || r.Before.Target != 7 {
		t.Errorf("before %+v, want an assumed target of 7", r.Before)
	}
	allowed := math.Max(0.01, r.Served.LateShare())
	if r.Hindsight.LateShare() > allowed ||
		r.Before.LateShare() <= allowed && r.Hindsight.ReplicaHours > r.Before.ReplicaHours {
		t.Errorf("hindsight %+v, before %+v, %v is allowed", r.Hindsight, r.Before, allowed)
	}
}

// A race has the demand of each interval, the replicas that are ready, and when something waited; gaps are unknown.
func TestRace(t *testing.T) {
	demand := days(9, 13)
	gap := 8*day + 120
	for i := gap; i < gap+30; i++ {
		demand[i] = math.NaN()
	}
	c := config(t, 0.002)
	c.Start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	p := newPlayer(t, c)
	play(p, demand)
	r := p.Report()
	const every = 10 * time.Minute
	if r.Replay.Step != every || len(r.Replay.Intervals) != 1008 ||
		!r.Replay.Start.Equal(r.Replay.Start.Truncate(every)) {
		t.Fatalf("%d intervals of %s since %s, want a week in steps of %s",
			len(r.Replay.Intervals), r.Replay.Step, r.Replay.Start, every)
	}
	lateBefore, late, ahead := 0, 0, 0
	for i, one := range r.Replay.Intervals {
		from := int(r.Replay.Start.Add(time.Duration(i)*every).Sub(c.Start) / step)
		highest := math.NaN()
		for _, v := range demand[from : from+10] {
			if !(v <= highest) && !math.IsNaN(v) {
				highest = v
			}
		}
		if want := highest / 10; math.Abs(float64(one.Demand)-want) > 1e-5 ||
			math.IsNaN(want) != math.IsNaN(float64(one.Demand)) {
			t.Fatalf("demand of interval %d is %v, want %v", i, one.Demand, want)
		}
		if one.Before.Late > 0 {
			lateBefore++
		}
		if one.Forewarm.Late > 0 {
			late++
		}
		if minute := from % day; minute == 540 && one.Forewarm.Ready > one.Before.Ready {
			ahead++
		}
	}
	// The rush at nine comes every day: mostly Forewarm has more replicas in it, and less is late.
	if ahead < 4 || lateBefore <= late {
		t.Errorf("ahead of the rush on %d of 7 days; %d intervals late before, %d with Forewarm", ahead, lateBefore,
			late)
	}
}

// The headline compares with the HPA before at equal reliability, and the details have the advice.
func TestHeadline(t *testing.T) {
	c := config(t, 0.01)
	p := newPlayer(t, c)
	play(p, days(2, 11))
	if got := p.Report(); !strings.HasPrefix(got.Headline(false), "Too early for a verdict") {
		t.Errorf("after two days %q", got.Headline(false))
	}
	p = newPlayer(t, c)
	play(p, days(8, 11))
	r := p.Report()
	v := r.Judged
	total := 0.0
	for _, cost := range v.Compared.HPA.Cost {
		total += cost
	}
	if len(v.Compared.HPA.Cost) != 7 || math.Abs(total/r.Before.ReplicaHours-1) > 1e-9 ||
		math.Abs(
			v.Compared.Forewarm.Total()/r.Served.ReplicaHours-1,
		) > 1e-9 || v.Compared.HPA.Share != r.Before.LateShare() {
		t.Errorf("%+v is not %+v and %+v", v.Compared, r.Served, r.Before)
	}
	if !(v.Low < v.Saved && v.Saved < v.High) ||
		!strings.Contains(r.Details(false), "an HPA with a target of 70% of a replica's capacity") {
		t.Errorf("%+v: %s", v, r.Details(false))
	}
	if got := r.Headline(true); got != "In shadow mode: "+r.Headline(false) {
		t.Errorf("%q", got)
	}
	r.Judged.Word = verdict.CostsMore
	r.Measured = &objective.Measured{Late: 0.029}
	for _, want := range []string{"set serve: Shadow", "According to objective.measured, 2.9% of the demand was late without Forewarm."} {
		if got := r.Details(true); !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}
