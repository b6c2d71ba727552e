package simulate_test

import (
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	core "github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// eventful is a demand with a day's course, noise, a plateau, a burst that lasts, gaps of a sample and of a quarter of an
// hour, and an outage.
func eventful(days int) forecast.Series {
	random := rand.New(rand.NewPCG(18, 6))
	s := forecast.Series{
		Start: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), Step: time.Minute, Values: make([]float64, days*24*60),
	}
	for i := range s.Values {
		v := (100 + 60*math.Sin(2*math.Pi*float64(i)/1440)) * (1 + 0.05*random.NormFloat64())
		switch at := i % 1440; {
		case at >= 300 && at < 360:
			v *= 2.5
		case at >= 700 && at < 715, random.IntN(300) == 0:
			v = math.NaN()
		case i > 1440 && at >= 900 && at < 906:
			v = 0
		}
		s.Values[i] = v
	}
	return s
}

// daysOfPlay are as many as there is time for; two weeks have all seasons.
func daysOfPlay() int {
	switch {
	case testing.Short():
		return 1
	case os.Getenv(long) == "":
		return 3
	}
	return 14
}

// long names the variable with which .ci/run asks for what takes minutes.
const long = "FOREWARM_LONG"

// What simulate plays is what the server serves, bit by bit: over the anchors at which the server rebuilds its state, over
// gaps and outages, for a quantile and for an objective.
func TestForewarmServesWhatTheLoopServes(t *testing.T) {
	t.Parallel()
	s := eventful(daysOfPlay())
	scaling := decide.Autoscaler{Name: "test", HPA: played(s).HPA}
	for name, asked := range map[string]decide.Settings{
		"a quantile":   {Quantile: 0.95, Lead: 5 * time.Minute, Mode: decide.Floor},
		"an objective": {Late: 0.01, Target: scaling.Target(), Lead: 5 * time.Minute, Mode: decide.Floor},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := refresh.Job{
				Key: snapshot.Key{Namespace: "same", Name: "demand"}, Generation: 1, Expr: "demand",
				Step: s.Step, History: 14 * day, Lead: asked.Lead, StaleAfter: 10 * time.Minute, Settings: asked,
				Models: []string{windowpeak.SES, windowpeak.ARIMA}, Autoscalers: []decide.Autoscaler{scaling},
			}
			loop, err := simulate.NewLoop(t.Context(), target, refresh.Config{})
			if err != nil {
				t.Fatal(err)
			}
			asked.MaxCapacity = scaling.MaxCapacity()
			fast := simulate.NewForewarm(forecaster.Config{
				Step: s.Step, Window: leadtime.Window(asked.Lead), Models: target.Models, Settings: asked,
				Autoscalers: target.Autoscalers, DelaySteps: 1,
			})
			served := values(t, s, loop)
			before := math.NaN() // The loop's newest sample is that of the step before.
			for i, v := range values(t, s, fast) {
				if !same(served[i], before) {
					t.Fatalf("step %d, %s: %v is served, and %v played", i, s.TimeAt(i), served[i], before)
				}
				before = v
			}
		})
	}
}

// recordings are a demand and a signal of saturation.
type recordings map[string]forecast.Series

func (r recordings) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	out, from := forecast.Series{Start: q.From, Step: q.Step, Values: make([]float64, q.Points())}, r[q.Expr]
	for i := range out.Values {
		out.Values[i] = math.NaN()
		if at := int(out.TimeAt(i).Sub(from.Start) / from.Step); !out.TimeAt(i).Before(from.Start) && at < from.Len() {
			out.Values[i] = from.Values[at]
		}
	}
	return out, nil
}

// changing is a Forecast whose lead time becomes another one.
type changing struct {
	target refresh.Job
	at     time.Time
	lead   time.Duration
}

func (c changing) List(now time.Time) []refresh.Job {
	t := c.target
	if !now.Before(c.at) {
		t.Lead, t.Settings.Lead = c.lead, c.lead
	}
	return []refresh.Job{t}
}

// The engine that is stepped by itself is the server's, bit by bit, where the service is saturated every day, and its lead
// time becomes another one.
func TestTheForecasterDecidesWhatTheLoopServes(t *testing.T) {
	t.Parallel()
	s := eventful(daysOfPlay())
	saturated := func(i int) bool { return i%1440 >= 420 && i%1440 < 450 }
	limits := forecast.Series{Start: s.Start, Step: s.Step, Values: make([]float64, s.Len())}
	for i := range limits.Values {
		if saturated(i) {
			limits.Values[i] = 1
		}
	}
	scaling := decide.Autoscaler{Name: "test", HPA: played(s).HPA}
	asked := decide.Settings{Late: 0.01, Target: scaling.Target(), Lead: 5 * time.Minute, Mode: decide.Floor}
	half := s.Len() / 2
	targets := changing{at: s.TimeAt(half), lead: 8 * time.Minute, target: refresh.Job{
		Key: snapshot.Key{
			Namespace: "same",
			Name:      "demand",
		},
		Generation:  1,
		Expr:        "demand",
		SideQueries: refresh.SideQueries{refresh.Saturated: "limits"},
		Step:        s.Step,
		History:     20 * day,
		Lead:        asked.Lead,
		StaleAfter:  10 * time.Minute,
		Settings:    asked,
		Models:      []string{windowpeak.SES},
		Autoscalers: []decide.Autoscaler{scaling},
	}}
	snapshots := new(snapshot.Store)
	loop, err := refresh.New(refresh.Config{Timeout: day, Grace: day}, recordings{"demand": s, "limits": limits},
		targets, snapshots, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	// begun is the engine that has seen the first n samples.
	begun := func(lead time.Duration, n int) *forecaster.Forecaster {
		own := asked
		own.Lead, own.MaxCapacity = lead, scaling.MaxCapacity()
		rounded := s.Slice(0, n)
		rounded.Values = slices.Clone(rounded.Values)
		for i, v := range rounded.Values {
			rounded.Values[i] = float64(float32(v)) // As the server's store keeps it.
		}
		return forecaster.New(forecaster.Config{
			Step: s.Step, Window: leadtime.Window(lead), Models: []string{windowpeak.SES}, Settings: own,
			Autoscalers: []decide.Autoscaler{scaling}, DelaySteps: 1,
		}, forecaster.History{Series: rounded, Saturated: func(at time.Time) bool { return saturated(int(at.Sub(s.Start) / s.Step)) }})
	}
	engine, newest, served := begun(asked.Lead, 0), 0, 0
	var value [1]float64
	for i, v := range s.Values {
		now := s.TimeAt(i + 1)
		if now.Equal(targets.at) {
			engine = begun(targets.lead, i)
		}
		engine.Step(core.Reading{Demand: float64(float32(v)), Saturated: saturated(i)})
		if !math.IsNaN(v) {
			newest = i
		}
		engine.ValuesTo(value[:])
		if age := time.Duration(i+1-newest) * s.Step; math.IsNaN(value[0]) || age > forecaster.FallbackAfter(s.Step) {
			value[0] = engine.Fallback().Value
			if age >= targets.target.StaleAfter {
				value[0] = math.NaN()
			}
		}
		e := loop.Step(t.Context(), now).Get(targets.target.Key)
		got := math.NaN()
		if e.State.Serves() {
			got = e.Decision.Value
			served++
		}
		if !same(got, value[0]) {
			t.Fatalf("step %d, %s: %v is served (%s), and %v by the engine", i, now, got, e.Decision.Reason(), value[0])
		}
	}
	if served < s.Len()*9/10 {
		t.Errorf("%d of %d steps are served", served, s.Len())
	}
}

// same says that two values are the same, bit by bit, or that both are none.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}
