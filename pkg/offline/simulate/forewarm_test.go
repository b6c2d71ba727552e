package simulate_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// objectiveConfig for a demand, without what was learnt on other workloads.
func objectiveConfig(t *testing.T, s forecast.Series, late float64) forecaster.Config {
	t.Helper()
	margins, err := objective.BuiltinPriors(5 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	scaling := decide.Autoscaler{Name: "test", HPA: played(s).HPA}
	c := windowpeak.Config{Step: s.Step, Window: 7 * time.Minute, RegressionInputs: []string{}}
	return forecaster.Config{
		Step: s.Step, Window: c.Window, Rate: true, Models: []string{windowpeak.SES},
		Settings:    decide.Settings{Late: late, Target: scaling.Target(), Lead: 5 * time.Minute},
		Autoscalers: []decide.Autoscaler{scaling},
		Priors: &forecaster.Priors{
			WindowPeak:       windowpeak.NaivePrior(c.RegressionColumns()),
			RegressionInputs: c.RegressionInputs,
			Headroom:         margins,
		},
	}
}

// A sample of a quarter of an hour ago is not stale where steps are as long.
func TestForewarmServesOverLongSteps(t *testing.T) {
	s := daily(3, 5)
	s.Step = 15 * time.Minute
	s.Values = slices.DeleteFunc(s.Values[:500], math.IsNaN)
	c := objectiveConfig(t, s, 0.01)
	c.Window = s.Step
	for i, got := range values(t, s, simulate.NewForewarm(c)) {
		if i > 0 && !(got > 0) {
			t.Fatalf("step %d: serves %v", i, got)
		}
	}
}

// The floor: whatever is forecast, never less than what is observed.
func TestForewarmNeverServesLessThanIsObserved(t *testing.T) {
	s := daily(3, 5)
	observed := values(t, s, simulate.NewObserved())
	for i, got := range values(t, s, simulate.NewForewarm(objectiveConfig(t, s, 0.01))) {
		if got < observed[i] {
			t.Fatalf("minute %d: serves %v of %v", i, got, observed[i])
		}
	}
}

// A workload is as late as it was asked to be, within what a week can tell, and the stricter objective costs more.
func TestForewarmMeetsItsObjective(t *testing.T) {
	s := daily(8, 7)
	var costs []float64
	for _, late := range []float64{0.003, 0.03} {
		c := played(s)
		c.WarmUp = 2 * day
		report, err := simulate.Run(c, simulate.NewForewarm(objectiveConfig(t, s, late)))
		if err != nil {
			t.Fatal(err)
		}
		if got := report.LateShare(); got > 3*late {
			t.Errorf("asked for %v late, %v were", late, got)
		}
		costs = append(costs, report.RelativeCost())
	}
	if !(costs[0] > costs[1]) {
		t.Errorf("costs %v, want the stricter objective to cost more", costs)
	}
}

// timetable is five times the demand from 9 to 17 o'clock, every day.
func timetable(days int) forecast.Series {
	s := daily(days, 9)
	random := rand.New(rand.NewPCG(9, 9))
	for i := range s.Values {
		level := 6.0
		if hour := i / 60 % 24; hour >= 9 && hour < 17 {
			level = 30
		}
		s.Values[i] = level * math.Max(0, 1+0.1*random.NormFloat64())
	}
	return s
}

// Where the clock rules the demand, yesterday's query with offset is hard to beat and free: forewarm is no more expensive by more
// than what it takes to find that out, at the offset's best target for the same lateness.
func TestForewarmOnATimetable(t *testing.T) {
	const late = 0.02
	s := timetable(14)
	play := func(target int64, p simulate.Policy) simulate.Report {
		c := played(s)
		c.WarmUp, c.HPA.Metrics[0].Target = 5*day, target
		report, err := simulate.Run(c, p)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	free := math.Inf(1)
	for target := int64(600); target <= 1000; target += 25 {
		if r := play(target, simulate.NewOffset(6*time.Minute, s.Step, day)); r.LateShare() <= late {
			free = math.Min(free, r.RelativeCost())
		}
	}
	p := simulate.NewForewarm(objectiveConfig(t, s, late))
	r := play(1000, p)
	t.Logf("%.3f at %.2f %% late, %.3f with offset", r.RelativeCost(), 100*r.LateShare(), free)
	if report := p.Forecaster().Calibrator().Report(); report.Selection.Selected != windowpeak.LastSeason {
		t.Errorf("%s serves: %+v", report.Selection.Selected, report.Candidates)
	}
	if !(r.RelativeCost() <= 1.13*free) || !(r.LateShare() <= late) {
		t.Errorf("costs %v with %v late, the offset %v", r.RelativeCost(), r.LateShare(), free)
	}
}

// A rise so smooth and slow that no step of it leaves the autoscaler's tolerance is not followed for long: capacity must
// not stand just below the demand meanwhile.
func TestForewarmOnASmoothDemand(t *testing.T) {
	const late = 0.01
	wave := func(i int) float64 { return 20 + 8*math.Sin(2*math.Pi*float64(i)/(24*60)) }
	for name, at := range map[string]func(i int) float64{"a wave": wave, "a walk": walk(1), "another": walk(2), "a third": walk(3)} {
		s := daily(8, 9)
		for i := range s.Values {
			s.Values[i] = at(i)
		}
		c := played(s)
		c.WarmUp = 2 * day
		r, err := simulate.Run(c, simulate.NewForewarm(objectiveConfig(t, s, late)))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.3f at %.2f %% late", name, r.RelativeCost(), 100*r.LateShare())
		if !(r.LateShare() <= 2*late) || !(r.RelativeCost() < 1.1) {
			t.Errorf("%s: %v late at a cost of %v", name, r.LateShare(), r.RelativeCost())
		}
	}
}

// walk is a demand of about twelve replicas that changes by a hundredth an hour.
func walk(seed uint64) func(int) float64 {
	random, level := rand.New(rand.NewPCG(seed, 12)), 0.0
	return func(int) float64 {
		level += 0.01 / math.Sqrt(60) * random.NormFloat64()
		return 12 * math.Exp(level)
	}
}

func loop(t *testing.T, step time.Duration, models ...string) *simulate.Loop {
	t.Helper()
	p, err := simulate.NewLoop(t.Context(), refresh.Job{
		Key: snapshot.Key{Namespace: "inference", Name: "llama"}, Expr: "demand", Step: step, History: 14 * day,
		Lead: 5 * time.Minute, StaleAfter: 10 * time.Minute, Models: models,
		Settings: decide.Settings{Late: 0.01, Target: 1, Lead: 5 * time.Minute},
	}, refresh.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The loop serves no less than was observed, as it does in the server.
func TestLoop(t *testing.T) {
	s := daily(3, 3)
	s.Values[4000] = math.NaN()
	got := values(t, s, loop(t, s.Step, windowpeak.SES))
	for i := 60; i < s.Len(); i++ {
		// At the end of a step the loop asks for the one before it, as its samples may still come. It keeps seven digits.
		if observed := s.Values[i-2]; !(got[i] >= observed*(1-1e-7)) && !math.IsNaN(observed) {
			t.Fatalf("minute %d: %v is served, %v was observed", i, got[i], observed)
		}
	}
	if math.IsNaN(got[4002]) {
		t.Error("one missing sample ends the answers")
	}
}

// A source that has nothing yet is no value.
func TestLoopBeforeTheFirstSample(t *testing.T) {
	p := loop(t, time.Minute)
	if got := p.Serve(simulate.Observation{At: start(), Demand: math.NaN(), Arrived: math.NaN()}); !math.IsNaN(got) {
		t.Errorf("%v is served", got)
	}
	if _, err := simulate.NewLoop(t.Context(), refresh.Job{}, refresh.Config{Refit: -1}); err == nil {
		t.Error("a refit of −1 is no error")
	}
}
