package forecaster_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// asked is an objective, read by an HPA, and by one more that asks for each of the candidates.
func asked(candidates ...string) forecaster.Config {
	c := config()
	c.Settings = decide.Settings{Late: 0.01, Target: 10, Lead: 10 * time.Minute}
	c.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: stock(10)}}
	for _, name := range candidates {
		c.Autoscalers = append(c.Autoscalers,
			decide.Autoscaler{Name: "HorizontalPodAutoscaler/" + name, HPA: stock(10), Candidate: name})
	}
	return c
}

// answer is what a selector with a model is answered.
func answer(t *testing.T, e *snapshot.ForecastSnapshot, model string) float64 {
	t.Helper()
	e.State, e.StaleAt = snapshot.Ready, start.Add(100*24*time.Hour)
	a, err := e.Answer(decide.Overrides{Model: model}, start)
	if err != nil {
		t.Fatal(err)
	}
	return a.Value
}

// A candidate that an autoscaler asks for by name has headroom of its own, by its own simulated autoscaler; any other one is
// answered by its quantile. What is served to all others does not change for it.
func TestANamedCandidateKeepsTheObjective(t *testing.T) {
	h := history(8*288, saw(rand.New(rand.NewPCG(7, 8))))
	requested := asked()
	requested.Named = []string{windowpeak.SES}
	plain, named := describe(forecaster.New(requested, h)), describe(forecaster.New(asked(windowpeak.SES), h))
	if plain.Decision != named.Decision || plain.Choice != named.Choice {
		t.Errorf("%s by %+v; with a named candidate alongside it %s by %+v",
			plain.Decision.Reason(), plain.Choice, named.Decision.Reason(), named.Choice)
	}
	all := named.Objective.Named
	if len(all) != 1 || all[0].Name != windowpeak.SES || len(plain.Objective.Named) > 0 {
		t.Fatalf("named are %+v", all)
	}
	ses := &all[0]
	k := ses.HeadroomFor(named.Settings)
	if expected := ses.Autoscalers[0].ExpectedLate; !(k > 0) || !(expected <= 0.01) {
		t.Errorf("k = %v, with which %v is expected to be late, want 0.01 at most", k, expected)
	}
	settings := asked().Settings
	named.Settings, plain.Settings = settings, settings
	want := decide.Decide(settings, ses.HeadroomFor(settings), ses.Inputs).Value
	if got := answer(t, named, windowpeak.SES); got != want {
		t.Errorf("model=ses is answered %v, want the median and its headroom %v", got, want)
	}
	quantile := candidate(t, plain, windowpeak.SES).Windows
	at, ok := windowpeak.QuantilesAtHorizon(quantile, config().Window)
	if got := answer(t, plain, windowpeak.SES); !ok || got != max(at.At(0.95), plain.Observed) {
		t.Errorf("model=ses, which no autoscaler asks for, is answered %v, want the quantile %v", got,
			at.At(0.95))
	}
}

// same reports whether two values are equal, where NaN equals NaN: the last season may have a gap.
func same(a, b any) bool {
	return cmp.Equal(a, b, cmpopts.EquateNaNs(), cmp.Exporter(func(reflect.Type) bool { return true }))
}

// An objective is served alike, to the last bit, whether the models that it does not read are fitted or not.
func TestWhatNothingReadsIsNotFitted(t *testing.T) {
	h := history(8*288, saw(rand.New(rand.NewPCG(7, 8))))
	all, named := asked(), asked()
	all.Models, named.Named = windowpeak.FittedModels(), []string{windowpeak.Auto}
	byDefault, byQuantile := describe(forecaster.New(asked(), h)), describe(forecaster.New(config(), h))
	for name, e := range map[string]*snapshot.ForecastSnapshot{
		"all": describe(forecaster.New(all, h)), "the ensemble, which is named": describe(forecaster.New(named, h)),
	} {
		if !same(e.Decision, byDefault.Decision) || !same(e.Objective, byDefault.Objective) {
			t.Errorf("with %s %s is served, by default %s", name, e.Decision.Reason(), byDefault.Decision.Reason())
		}
		for _, c := range byDefault.Candidates {
			if c.Error == "" && !same(candidate(t, e, c.Name), c) {
				t.Errorf("with %s, %s is %+v, by default %+v", name, c.Name, candidate(t, e, c.Name), c)
			}
		}
		if c := candidate(t, e, windowpeak.Auto); c.Error != "" || len(c.Windows) == 0 {
			t.Errorf("with %s the ensemble has no forecast: %s", name, c.Error)
		}
	}
	for _, name := range windowpeak.CandidateNames() {
		read := name != windowpeak.Auto
		if c := candidate(t, byQuantile, name); (c.Error == "") != read && name != windowpeak.LastWeek {
			t.Errorf("by quantile %s: %q", name, c.Error)
		}
		read = read && name != windowpeak.SES && name != "holt"
		if c := candidate(t, byDefault, name); (c.Error == "") != read && name != windowpeak.LastWeek {
			t.Errorf("by objective %s: %q", name, c.Error)
		}
	}
}

// A model that is named is answered by name alone: what is selected, and what looks ahead, are the same without it, though it may be
// the best.
func TestANamedModelIsNotSelected(t *testing.T) {
	for _, c := range []struct {
		of    forecaster.Config
		named string
		n     int
		mean  func(i float64) float64
	}{
		{config(), windowpeak.Auto, 303, func(i float64) float64 { return 100 + 60*math.Sin(2*math.Pi*i/144) }},
		{asked(), windowpeak.SES, 177, func(i float64) float64 { return 100 + 60*math.Sin(2*math.Pi*i/288) }},
	} {
		rng := rand.New(rand.NewPCG(7, 8))
		h := history(c.n, func(i int) float64 { return c.mean(float64(i)) + 3*rng.NormFloat64() })
		named, all := c.of, c.of
		named.Named, all.Models = []string{c.named}, windowpeak.FittedModels()[:4]
		plain, by := describe(forecaster.New(c.of, h)), describe(forecaster.New(named, h))
		if plain.Decision.Value != by.Decision.Value || plain.Model != by.Model || plain.PathModel != by.PathModel {
			t.Errorf("%s and %s serve; with %s alongside them %s and %s", plain.Model, plain.PathModel, c.named,
				by.Model, by.PathModel)
		}
		if e := describe(forecaster.New(all, h)); c.named == windowpeak.SES && e.PathModel != c.named {
			t.Errorf("%s looks ahead, want ses, the best of those that Models has", e.PathModel)
		}
	}
}

// Where all autoscalers ask for a model, what is served without a selector is calibrated for them, too.
func TestAllAutoscalersAskForAModel(t *testing.T) {
	c := asked(windowpeak.ARIMA)
	c.Autoscalers = c.Autoscalers[1:]
	e := describe(forecaster.New(c, history(4*288, saw(rand.New(rand.NewPCG(7, 8))))))
	if e.Objective == nil || e.Objective.Verdict != objective.Met ||
		e.Objective.Autoscalers[0].Name != "HorizontalPodAutoscaler/arima" {
		t.Errorf("the objective is %+v", e.Objective)
	}
}
