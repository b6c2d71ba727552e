package forecaster_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// weekdays is an office's load from Monday to Friday, which starts and ends at once.
func weekdays(rng *rand.Rand) func(int) float64 {
	return func(i int) float64 {
		day, hour := i/288%7, float64(i%288)/12
		if day < 5 && hour >= 8 && hour < 18 {
			return 400 + 8*rng.NormFloat64()
		}
		return 20 + rng.NormFloat64()
	}
}

// A load of weekdays is served by the week before once it was cheaper for days, and then less of it is late. (Demand that has no
// weekdays is in the bench: that it does not become dearer.)
func TestLastWeekServesWeekdays(t *testing.T) {
	for _, c := range []struct {
		days int
		want bool
	}{{9, false}, {21, true}} {
		e := describe(forecaster.New(asked(), history(c.days*288, weekdays(rand.New(rand.NewPCG(3, 4))))))
		of := objectiveCandidate(t, e, windowpeak.LastWeek)
		if got := e.Objective.Selection.Selected == windowpeak.LastWeek; got != c.want || c.want && !of.MeetsObjective {
			t.Errorf("after %d days: %+v; last week is %+v, want it selected: %t",
				c.days, e.Objective.Selection, of, c.want)
		}
	}
}

// Where a week is the season itself, or no whole week is known, there is no last week.
func TestNoLastWeek(t *testing.T) {
	c := asked()
	c.Seasons = []time.Duration{7 * windowpeak.Day}
	e := describe(forecaster.New(c, history(8*288, weekdays(rand.New(rand.NewPCG(3, 4))))))
	if slices.ContainsFunc(e.Candidates, func(c snapshot.Candidate) bool { return c.Name == windowpeak.LastWeek }) {
		t.Error("a last week beside a season of a week")
	}
	e = describe(forecaster.New(asked(), history(6*288, weekdays(rand.New(rand.NewPCG(3, 4))))))
	if of := objectiveCandidate(t, e, windowpeak.LastWeek); of.MeetsObjective {
		t.Errorf("after six days: %+v", of)
	}
}

func objectiveCandidate(t *testing.T, e *snapshot.ForecastState, name string) objective.Candidate {
	t.Helper()
	i := slices.IndexFunc(e.Objective.Candidates, func(c objective.Candidate) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no candidate %s in %+v", name, e.Objective.Candidates)
	}
	return e.Objective.Candidates[i]
}
