package policy_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/forecaster"
	"github.com/forewarm/forewarm/pkg/leadtime"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/simulate/policy"
	"github.com/forewarm/forewarm/pkg/snapshot"
	"github.com/forewarm/forewarm/pkg/windowpeak"
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

// What simulate plays is what the server serves, bit by bit: over the anchors at which the server builds its state anew, over
// gaps and outages, for a quantile and for an objective.
func TestForewarmIsTheLoop(t *testing.T) {
	t.Parallel()
	days := 3
	if underRace { // It takes ten times as long.
		days = 1
	}
	s := eventful(days)
	scaling := decide.Scaling{By: "test", HPA: played(s).HPA}
	for name, asked := range map[string]decide.Policy{
		"a quantile":   {Quantile: 0.95, Lead: 5 * time.Minute, Mode: decide.Floor},
		"an objective": {Late: 0.01, Target: scaling.Target(), Lead: 5 * time.Minute, Mode: decide.Floor},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := refresh.Target{
				Key: snapshot.Key{Namespace: "same", Name: "demand"}, Generation: 1, Expr: "demand",
				Step: s.Step, History: 14 * day, Lead: asked.Lead, StaleAfter: 10 * time.Minute, Policy: asked,
				Models: []string{windowpeak.SES, windowpeak.ARIMA}, Scalings: []decide.Scaling{scaling},
			}
			loop, err := policy.NewLoop(t.Context(), target, refresh.Config{})
			if err != nil {
				t.Fatal(err)
			}
			asked.Usable = scaling.Usable()
			fast := policy.NewForewarm(forecaster.Config{
				Step: s.Step, Window: leadtime.Window(asked.Lead), Models: target.Models, Policy: asked,
				Scalings: target.Scalings,
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

// same says that two values are the same, bit by bit, or that both are none.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}
