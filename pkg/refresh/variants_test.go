package refresh_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/variant"
	"github.com/forewarm/forewarm/pkg/refresh"
)

func jobWithVariants() refresh.Job {
	out := jobOf("llama")
	out.Workload = "Deployment/llama"
	out.Settings = decide.Settings{Late: 0.01, Wait: 30 * time.Second, Lead: 5 * time.Minute, Target: 10}
	h := hpaWithMax(50)[0].HPA
	out.Variants = []variant.Variant{
		{Name: "llama", HPA: h, Price: 3, Lead: 5 * time.Minute},
		{Name: "spot", HPA: h, Price: 1, Lead: 12 * time.Minute},
	}
	out.Autoscalers = []decide.Autoscaler{{Name: "all", HPA: variant.Whole(out.Variants)}}
	return out
}

func part(t *testing.T, e *snapshot.ForecastSnapshot, name string) float64 {
	t.Helper()
	answer, err := e.Answer(decide.Overrides{Variant: name}, noon)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return answer.Value
}

// The parts of a Forecast add up to its value, at every step and after a rebuild, and what one cannot hold moves on.
func TestVariantsAreServed(t *testing.T) {
	job := jobWithVariants()
	loop, _ := newLoop(t, &demandSource{demand: daily}, fixedJobs{job})
	e := entry(t, loop.Step(t.Context(), noon), "llama")
	own, spot := part(t, e, "llama"), part(t, e, "spot")
	if own < 10 || spot < 50 || own+spot < e.Decision.Value || own+spot > e.Decision.Value+20+e.Parts[1].Starting {
		t.Errorf("%v and %v of %v", own, spot, e.Decision.Value)
	}
	for name, want := range map[string]string{
		"spott": `variant="spott" is unknown: valid names are llama, spot`,
	} {
		_, err := e.Answer(decide.Overrides{Variant: name}, noon)
		if !errors.Is(err, decide.ErrSelector) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if hasCondition(e, snapshot.ConditionVariants) {
		t.Errorf("%+v", e.Conditions)
	}

	job.VariantLimits = []float64{math.Inf(1), 30}
	loop, _ = newLoop(t, &demandSource{demand: daily}, fixedJobs{job})
	limited := entry(t, loop.Step(t.Context(), noon), "llama")
	if got := part(t, limited, "spot"); got != 40 {
		t.Errorf("%v of what holds 30, want one replica more", got)
	}
	if got := part(t, limited, "llama"); got < own+spot-30-20 {
		t.Errorf("%v have moved on, want %v", got, own+spot-30)
	}
	c := condition(t, limited, snapshot.ConditionVariants)
	if c.True || c.Reason != "VariantFull" ||
		!strings.Contains(c.Message, "Forewarm requests only 4 replicas of variant spot") {
		t.Errorf("%+v", c)
	}

	job.ReadWhole = []string{"HorizontalPodAutoscaler/llama"}
	loop, _ = newLoop(t, &demandSource{demand: daily}, fixedJobs{job})
	c = condition(t, entry(t, loop.Step(t.Context(), noon), "llama"), snapshot.ConditionVariants)
	if c.Reason != "ReadsWhole" || !strings.Contains(c.Message, "add matchLabels {variant: llama} to its metric") {
		t.Errorf("%+v", c)
	}
}

// Without variants none can be selected, and the value is the same with one that has no part.
func TestNoVariants(t *testing.T) {
	job := jobOf("llama")
	loop, _ := newLoop(t, &demandSource{demand: daily}, fixedJobs{job})
	e := entry(t, loop.Step(t.Context(), noon), "llama")
	if _, err := e.Answer(decide.Overrides{Variant: "spot"}, noon); !errors.Is(err, decide.ErrSelector) {
		t.Error(err)
	}
}

// What a variant can hold, and what an autoscaler reads, changes nothing of what was learnt.
func TestLimitsRebuildNothing(t *testing.T) {
	jobs := fixedJobs{jobWithVariants()}
	loop, _ := newLoop(t, &demandSource{demand: daily}, jobs)
	before := loop.Step(t.Context(), noon).Loop.Refits
	jobs[0].VariantLimits, jobs[0].ReadWhole = []float64{math.Inf(1), 30}, []string{"x"}
	s := loop.Step(t.Context(), noon.Add(time.Minute))
	if s.Loop.Refits != before || part(t, entry(t, s, "llama"), "spot") != 40 {
		t.Errorf("%d rebuilds, want %d", s.Loop.Refits, before)
	}
	jobs[0].Variants[1].Price = 2
	jobs[0] = func(j refresh.Job) refresh.Job { j.Variants = append([]variant.Variant{}, j.Variants...); return j }(
		jobs[0],
	)
	jobs[0].Variants[1].Price = 2.5
	if got := loop.Step(t.Context(), noon.Add(2*time.Minute)).Loop.Refits; got != before+1 {
		t.Errorf("%d rebuilds for another price, want %d", got, before+1)
	}
}
