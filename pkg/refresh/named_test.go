package refresh_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// A model that nothing reads is answered from the step on after a request that names it, also when the object changes, and is not
// fitted any more when it was not named from one anchor to the next. One that an autoscaler names is answered at once.
func TestAModelIsFittedForWhoNamesIt(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	of := jobOf("llama")
	of.Models, of.Named = nil, []string{"holt"}
	of.Settings = decide.Settings{Late: 0.01, Target: 10, Lead: of.Lead}
	of.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: defaultHPA()}}
	jobs := fixedJobs{of}
	loop, _ := loopWith(t, refresh.Config{Grace: 2 * time.Minute, Refit: time.Hour}, &demandSource{demand: daily},
		jobs)
	now, refits := noon, uint64(0)
	// step steps to a time, and returns whether a model is answered then, and how often the state was rebuilt on the way.
	step := func(end time.Duration, model string) (answered bool, rebuilt int) {
		t.Helper()
		var s *snapshot.Snapshot
		for ; !now.After(noon.Add(end)); now = now.Add(step) {
			s = loop.Step(t.Context(), now)
		}
		rebuilt, refits = int(s.Loop.Refits-refits), s.Loop.Refits
		a, err := entry(t, s, "llama").Answer(decide.Overrides{Model: model}, now)
		if err != nil &&
			(!errors.Is(err, snapshot.ErrNotServing) || !strings.Contains(err.Error(), "no autoscaler or request selects it")) {
			t.Fatal(err)
		}
		return err == nil && a.Value > 0, rebuilt
	}
	for _, c := range []struct {
		end      time.Duration
		model    string
		answered bool
		rebuilt  int
	}{
		{5 * time.Minute, "holt", true, 2}, // An anchor has passed, as every hour from now on.
		{6 * time.Minute, "SES", false, 0},
		{7 * time.Minute, "ses", true, 1},
		{8 * time.Minute, "arima", true, 0}, // The objective reads it.
		{90 * time.Minute, "ses", true, 1},
		{150 * time.Minute, "holt", true, 1},
		{151 * time.Minute, "ses", true, 1}, // The object has changed.
		{200 * time.Minute, "holt", true, 1},
		{260 * time.Minute, "ses", false, 1},
		{261 * time.Minute, "ses", true, 1},
	} {
		if c.end == 151*time.Minute {
			jobs[0].Generation++
		}
		if answered, rebuilt := step(c.end, c.model); answered != c.answered || rebuilt != c.rebuilt {
			t.Errorf("after %s %s is answered: %t, the state was rebuilt %d times", c.end, c.model, answered, rebuilt)
		}
	}
}
