package policy_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/policy"
	"github.com/forewarm/forewarm/pkg/refresh"
)

func loop(t *testing.T, step time.Duration, models ...string) *policy.Loop {
	t.Helper()
	p, err := policy.NewLoop(t.Context(), refresh.Job{
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

// What is served is the same to the last bit in a second run, and whatever comes later.
func TestLoopIsCausal(t *testing.T) {
	s := daily(2, 4)
	first := values(t, s, loop(t, s.Step, windowpeak.SES))
	cut := 2000
	for i := cut; i < s.Len(); i++ {
		s.Values[i] *= 3
	}
	second := values(t, s, loop(t, s.Step, windowpeak.SES))
	for i := range cut + 1 {
		if math.Float64bits(first[i]) != math.Float64bits(second[i]) {
			t.Fatalf("minute %d: %v, then %v", i, first[i], second[i])
		}
	}
	if first[cut+10] == second[cut+10] {
		t.Error("another demand makes no difference even afterwards")
	}
}

// A source that has nothing yet is no value.
func TestLoopBeforeTheFirstSample(t *testing.T) {
	p := loop(t, time.Minute)
	if got := p.Serve(simulate.Observation{At: start(), Demand: math.NaN(), Arrived: math.NaN()}); !math.IsNaN(got) {
		t.Errorf("%v is served", got)
	}
	if _, err := policy.NewLoop(t.Context(), refresh.Job{}, refresh.Config{Refit: -1}); err == nil {
		t.Error("a refit of −1 is no error")
	}
}
