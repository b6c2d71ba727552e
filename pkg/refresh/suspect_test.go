package refresh_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// withBadSamples is a demand with samples that are a million times too high at some minutes after noon.
func withBadSamples(load func(time.Time) float64, minutes ...int) *demandSource {
	return &demandSource{demand: func(at time.Time) float64 {
		if slices.Contains(minutes, int(at.Sub(noon)/step)) && !at.Before(noon.Add(-12*time.Hour)) {
			return 1e6 * load(at)
		}
		return load(at)
	}}
}

// suspectSpans are the times that an entry marks as such.
func suspectSpans(e *snapshot.ForecastSnapshot) []demand.Span {
	return slices.DeleteFunc(slices.Clone(e.Classifications),
		func(s demand.Span) bool { return s.Cause != demand.Suspect })
}

func TestASuspectIsServedUpToTheBoundAndMarked(t *testing.T) {
	for _, rate := range []bool{false, true} {
		tg := jobOf("llama")
		tg.Rate = rate
		loop, _ := newLoop(t, withBadSamples(daily, 3), fixedJobs{tg})
		at := func(minute int) *snapshot.ForecastSnapshot { // The newest sample is that of the minute.
			return entry(t, loop.Step(t.Context(), noon.Add(time.Duration(minute+1)*step)), "llama")
		}
		before := at(2)
		e := at(3)
		if e.Decision.Value != e.Observed || e.Observed < 170 || e.Observed > 2*180 {
			t.Errorf("rate %v: a suspect is served as %v, observed as %v; want between the highest and twice of it",
				rate, e.Decision.Value, e.Observed)
		}
		c := condition(t, e, snapshot.ConditionData)
		for _, want := range []string{
			"since 2026-11-18 12:03:00 UTC, the demand has been as high as 1", "more than its history justifies",
			"unless it lasts until 2026-11-18 12:05:00 UTC",
		} {
			if c.True || c.Reason != snapshot.ReasonSuspect || !strings.Contains(c.Message, want) {
				t.Errorf("rate %v: %+v, want %q", rate, c, want)
			}
		}
		if marked := suspectSpans(e); len(marked) != 1 || !marked[0].From.Equal(noon.Add(3*step)) ||
			marked[0].Samples != 1 {
			t.Errorf("rate %v: marked are %+v", rate, marked)
		}
		after := at(4)
		if v := after.Decision.Value; math.Abs(v-before.Decision.Value) > 0.02*v || len(suspectSpans(after)) != 1 {
			t.Errorf("rate %v: a minute later %v is served, before %v, and marked are %+v",
				rate, v, before.Decision.Value, suspectSpans(after))
		}
		if _, suspect := after.Suspect(); suspect {
			t.Error("the suspect has passed, its condition has not")
		}
	}
}

// A replica that starts while a sample is held back, or after, agrees with one that has seen it come.
func TestReplicasAgreeAboutSuspects(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	source := withBadSamples(daily, 3, 10, 11, 12, 13, 14, 15, 16)
	old, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	for minute := range 30 {
		now := noon.Add(time.Duration(minute) * step)
		a := entry(t, old.Step(t.Context(), now), "llama")
		fresh, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
		b := entry(t, fresh.Step(t.Context(), now), "llama")
		if a.Decision.Value != b.Decision.Value || a.Observed != b.Observed ||
			a.Decision.Reason() != b.Decision.Reason() ||
			condition(t, a, snapshot.ConditionReady) != condition(t, b, snapshot.ConditionReady) {
			t.Errorf("minute %d: %v (%s), a new replica %v (%s)",
				minute, a.Decision.Value, a.Decision.Reason(), b.Decision.Value, b.Decision.Reason())
		}
	}
}

// What has come a third time is believed from then on, and with the next rebuild the first two times as well.
func TestARepeatedLevelIsBelievedInHindsight(t *testing.T) {
	source := withBadSamples(daily, -700, -600, -500)
	for name, c := range map[string]struct {
		now  time.Time
		want int
	}{
		"after the second time": {noon.Add(-510 * step), 2},
		"after the third time":  {noon, 0},
	} {
		loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
		e := entry(t, loop.Step(t.Context(), c.now), "llama")
		if got := len(suspectSpans(e)); got != c.want {
			t.Errorf("%s %d are marked as suspects, want %d", name, got, c.want)
		}
	}
}

// A query that looks back over five minutes repeats one bad scrape as long; it does not believe it for that.
func TestARangeDoesNotCorroborateItself(t *testing.T) {
	for _, lookback := range []time.Duration{0, 5 * time.Minute} {
		tg := jobOf("llama")
		tg.Rate, tg.Lookback = true, lookback
		loop, _ := newLoop(t, withBadSamples(daily, 3, 4, 5, 6, 7), fixedJobs{tg})
		loop.Step(t.Context(), noon.Add(3*step))
		e := entry(t, loop.Step(t.Context(), noon.Add(8*step)), "llama")
		if believed := e.Decision.Value > 1e6; believed != (lookback == 0) {
			t.Errorf("a range of %s: five bad minutes are served as %v", lookback, e.Decision.Value)
		}
	}
}

// A demand in another unit is served in that unit: nothing knows how much a request is.
func TestTheUnitDoesNotMatter(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	for seed := range uint64(24) {
		if seed%2 == 0 {
			continue // An objective has a target.
		}
		one, other := makeHistory(seed), makeHistory(seed)
		const unit = 1 << 12 // A power of two, so that nothing is rounded.
		if slices.Max(finite(one.values)) > 1e14/unit {
			continue // It would be too large to be demand.
		}
		for i := range other.values {
			other.values[i] *= unit
		}
		var served []float64
		one.play(
			t,
			func(_ int, _ time.Time, e *snapshot.ForecastSnapshot) { served = append(served, e.Decision.Value) },
		)
		i := 0
		other.play(t, func(at int, _ time.Time, e *snapshot.ForecastSnapshot) {
			if got, want := e.Decision.Value, unit*served[i]; math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s, step %+d: %v is served in the smaller unit, want %v", one.name, at-one.event, got, want)
			}
			i++
		})
	}
}

// While history has no scale, what is observed is served, and never an error: waking from zero loses nothing.
func TestFromZeroTheObservedIsServed(t *testing.T) {
	source := &demandSource{demand: func(at time.Time) float64 {
		if at.Before(noon) {
			return 0
		}
		return 1450
	}}
	for _, mode := range []decide.Mode{decide.Floor, decide.Shadow} {
		tg := jobOf("llama")
		tg.Settings.Mode = mode
		loop, _ := newLoop(t, source, refresh.Jobs(fixedJobs{tg}))
		for minute := 1; minute < 12; minute++ {
			e := entry(t, loop.Step(t.Context(), noon.Add(time.Duration(minute)*step)), "llama")
			if v := e.Decision.Value; v < 1450 || v > 2*1450 || minute < 3 && v != 1450 {
				t.Errorf("%s, %d minutes after the launch %v is served: %s", mode, minute, v, e.Decision.Reason())
			}
		}
	}
}
