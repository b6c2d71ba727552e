package simulate_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// officeHours is the demand of a chat that is used in office hours, in steps of two minutes from a Monday on: a ramp in the morning, a
// little at night and on weekends, with noise.
func officeHours(seed uint64, length int) forecast.Series {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // A test must repeat itself.
	scale, ramp, begin := .5+1.1*random.Float64(), .12+.28*random.Float64(), 8.2+random.Float64()
	s := forecast.Series{Start: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), Step: 2 * time.Minute}
	rises := func(x, at, over float64) float64 { return 1 / (1 + math.Exp(-(x-at)/over)) }
	weekdays := []float64{560, 600, 590, 570, 470, 70, 60}
	for i := range int(time.Duration(length) * day / s.Step) {
		at := time.Duration(i) * s.Step
		h, today := math.Mod(at.Hours(), 24), int(at/day)
		office := rises(h, begin, ramp) * (1 - rises(h, 17.6, .5)) * (1 - .25*math.Exp(-(h-12.5)*(h-12.5)/.36))
		mean := 35 + 12*math.Sin((h-14)/24*2*math.Pi) +
			scale*weekdays[today%7]*office*(1+.06*math.Sin(float64(today)*1.7))
		s.Values = append(s.Values, max(0, mean+math.Sqrt(mean)*random.NormFloat64()))
	}
	return s
}

// TestPublishedIsWhatWasServed: what the report says of the last week is what the values did that were served in it, also on the days
// with which a replay of the last two weeks begins, and which it forecasts from less than Forewarm knew.
func TestPublishedIsWhatWasServed(t *testing.T) {
	if testing.Short() {
		t.Skip("two weeks and a half of the refresh loop")
	}
	s := officeHours(1, 18)
	c := played(s)
	c.Spec.Capacity, c.Spec.HPA.Metrics[0].Target, c.Spec.HPA.Behavior = 48, 48000, nil
	c.Spec.Sync, c.Refresh = 15*time.Second, 15*time.Second
	scaling := decide.Autoscaler{Name: "test", HPA: c.Spec.HPA}
	asked := decide.Settings{Late: 0.01, Target: scaling.Target(), Lead: 5 * time.Minute, Mode: decide.Floor}
	loop, err := simulate.NewLoop(t.Context(), refresh.Job{
		Key: snapshot.Key{Namespace: "same", Name: "demand"}, Generation: 1, Expr: "demand",
		Step: s.Step, History: 14 * day, Lead: asked.Lead, StaleAfter: 10 * time.Minute, Settings: asked,
		Autoscalers: []decide.Autoscaler{scaling},
	}, refresh.Config{})
	if err != nil {
		t.Fatal(err)
	}
	perDay := int(day / s.Step)
	values, published := []float64{math.NaN()}, map[int]float64{}
	for i, v := range s.Values {
		e := loop.Outlook(simulate.Observation{At: s.TimeAt(i + 1), Arrived: v})
		value := math.NaN()
		if e != nil && e.State.Serves() {
			value = e.Decision.Value
		}
		values = append(values, value)
		if e != nil && e.Objective != nil && (i+1)%perDay == 0 {
			published[(i+1)/perDay] = e.Objective.Served.LateShare()
		}
	}

	// What the values do, in a simulation of their own with finer steps.
	late, arrived := make([]float64, 18), make([]float64, 18)
	c.Demand = forecast.Series{Start: s.Start, Step: 15 * time.Second}
	var served []float64
	for i, v := range s.Values {
		for range s.Step / c.Demand.Step {
			c.Demand.Values, served = append(c.Demand.Values, v), append(served, values[i])
		}
	}
	step := 0
	c.Record = func(m sim.StepResult) {
		today := step / int(day/c.Demand.Step)
		late[today] += m.Late
		arrived[today] += m.Arrived
		step++
	}
	if _, err := simulate.Run(c, simulate.NewTape(served)); err != nil {
		t.Fatal(err)
	}
	for days := 15; days <= 18; days++ {
		l, a := 0.0, 0.0
		for d := days - 7; d < days; d++ {
			l, a = l+late[d], a+arrived[d]
		}
		if got, want := published[days], l/a; math.Abs(got-want) > .0005 {
			t.Errorf(
				"after %d days %.3f %% of the last week is said to be late, and %.3f %% was",
				days,
				100*got,
				100*want,
			)
		}
	}
}
