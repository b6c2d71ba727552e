package forecaster_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
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
// weekdays is in the bench: that it does not become more expensive.)
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
		t.Error("a last week alongside a season of a week")
	}
	e = describe(forecaster.New(asked(), history(6*288, weekdays(rand.New(rand.NewPCG(3, 4))))))
	if of := objectiveCandidate(t, e, windowpeak.LastWeek); of.MeetsObjective {
		t.Errorf("after six days: %+v", of)
	}
}

func objectiveCandidate(t *testing.T, e *snapshot.ForecastSnapshot, name string) objective.Candidate {
	t.Helper()
	i := slices.IndexFunc(e.Objective.Candidates, func(c objective.Candidate) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no candidate %s in %+v", name, e.Objective.Candidates)
	}
	return e.Objective.Candidates[i]
}

// office is a chat with office hours and quiet weekends, by the minute. Every morning it rises within an hour.
func office(seed uint64) func(time.Time) float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	scale, ramp, begin := .5+1.1*rng.Float64(), .12+.28*rng.Float64(), 7.2+rng.Float64()
	busy := map[time.Weekday]float64{
		time.Monday:    560,
		time.Tuesday:   600,
		time.Wednesday: 590,
		time.Thursday:  570,
		time.Friday:    470,
		time.Saturday:  70,
		time.Sunday:    60,
	}
	step := func(x, width float64) float64 { return 1 / (1 + math.Exp(-x/width)) }
	return func(at time.Time) float64 {
		hour := at.Sub(at.Truncate(24 * time.Hour)).Hours()
		afterNoon := (hour - 11.5) / .6
		lunch := 1 - .25*math.Exp(-afterNoon*afterNoon)
		days := float64(at.YearDay())
		mean := 35 + scale*busy[at.Weekday()]*step(
			hour-begin,
			ramp,
		)*step(
			16.6-hour,
			.5,
		)*lunch*(1+.06*math.Sin(1.7*days))
		return max(0, mean+math.Sqrt(mean)*rng.NormFloat64())
	}
}

// Twelve days after a Tuesday it is Sunday. A model that is fitted to that day alone follows the ramp of Monday too slowly.
func TestMondayAfterTwelveDays(t *testing.T) {
	if testing.Short() {
		t.Skip("replays two weeks by the minute")
	}
	for seed := range uint64(6) {
		c := asked()
		c.Step, c.Window = time.Minute, leadtime.Window(5*time.Minute)
		c.Settings.Late, c.Settings.BadHours, c.Settings.Target, c.Settings.Lead = .01, true, 48, 5*time.Minute
		c.Autoscalers[0].HPA.Metrics[0].Target, c.Autoscalers[0].HPA.Max = 48_000, 100
		begin := time.Date(2026, 11, 3, 8, 40, 0, 0, time.UTC)
		demand, of := forecast.Series{Start: begin, Step: c.Step}, office(seed)
		for i := range 14 * 24 * 60 {
			demand.Values = append(demand.Values, of(begin.Add(time.Duration(i)*c.Step)))
		}
		e := describe(forecaster.New(c, forecaster.History{Series: demand}))
		if bad := e.Objective.Bad; bad.Judged < 300 || bad.Count > 0 {
			t.Errorf("seed %d: %s", seed, bad.String())
		}
	}
}
