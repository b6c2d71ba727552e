package accuracy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/accuracy"
)

const day = 24 * time.Hour

// start of all histories.
func start() time.Time { return time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) }

// demand is a history of so many days that a function draws from the time.
func demand(step, length time.Duration, of func(at time.Duration) float64) forecast.Series {
	s := forecast.Series{Start: start(), Step: step}
	for at := time.Duration(0); at < length; at += step {
		s.Values = append(s.Values, of(at))
	}
	return s
}

// daily is a demand with the pattern of a day and noise of a size that no model can know.
func daily(noise float64) func(at time.Duration) float64 {
	random := rand.New(rand.NewPCG(1, 2))
	return func(at time.Duration) float64 {
		return 100 + 60*math.Sin(2*math.Pi*at.Hours()/24) + noise*random.NormFloat64()
	}
}

func constant(v float64) func(time.Duration) float64 { return func(time.Duration) float64 { return v } }

func judged(t *testing.T, s forecast.Series, lead time.Duration) *accuracy.Result {
	t.Helper()
	got, err := accuracy.Run(t.Context(), accuracy.Config{Series: s, Lead: lead}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// find is the score of a model at a horizon.
func find(t *testing.T, r *accuracy.Result, horizon time.Duration, model string) accuracy.Score {
	t.Helper()
	for _, s := range r.Scores {
		if s.Horizon == horizon && s.Model == model {
			return s
		}
	}
	t.Fatalf("no score of %s at %s", model, horizon)
	return accuracy.Score{}
}

// On a demand with the pattern of a day every model's quantiles hold about as often as they say, the models that know the pattern
// are better than the last value, and the last value has no skill against itself.
func TestScores(t *testing.T) {
	t.Parallel()
	r := judged(t, demand(10*time.Minute, 21*day, daily(5)), 30*time.Minute)
	if r.Lead != 30*time.Minute || r.Partial || len(r.Notes) > 0 {
		t.Errorf("lead time %s, partial %v, %q", r.Lead, r.Partial, r.Notes)
	}
	if want := start().Add(21 * day / 4); !r.From.Equal(want) || !r.To.Equal(start().Add(21*day)) {
		t.Errorf("judged from %s to %s", r.From, r.To)
	}
	horizons, models := map[time.Duration]int{}, map[string]int{}
	for i, s := range r.Scores {
		horizons[s.Horizon]++
		models[s.Model]++
		if s.Count < 2000 || s.Count != find(t, r, s.Horizon, windowpeak.LastValue).Count {
			t.Errorf("%s at %s is judged on %d values", s.Model, s.Horizon, s.Count)
		}
		for q, level := range accuracy.Levels() {
			if math.Abs(s.Coverage[q]-level) > 0.04 {
				t.Errorf("%s at %s: the %v quantile held %v", s.Model, s.Horizon, level, s.Coverage[q])
			}
		}
		if s.Model == windowpeak.LastValue && (s.Skill != 0 || s.LossSkill != 0) {
			t.Errorf("the last value has a skill of %v and %v against itself", s.Skill, s.LossSkill)
		}
		if i > 0 && r.Scores[i-1].Horizon == s.Horizon && r.Scores[i-1].Loss > s.Loss {
			t.Errorf("%s has a lower loss than %s, which is before it", s.Model, r.Scores[i-1].Model)
		}
	}
	if diff := cmp.Diff(map[time.Duration]int{10 * time.Minute: 7, 30 * time.Minute: 7}, horizons); diff != "" {
		t.Error(diff)
	}
	want := map[string]int{
		"forewarm": 2, "holt-winters": 2, "arima": 2, "auto": 2, "last-value": 2, "last-season": 2, "running-max": 2,
	}
	if diff := cmp.Diff(want, models); diff != "" {
		t.Error(diff)
	}
	for _, model := range []string{accuracy.Forewarm, windowpeak.HoltWinters} {
		if s := find(t, r, 30*time.Minute, model); s.Baseline || s.Skill < 0.2 || s.LossSkill < 0.2 || s.MASE > 0.9 {
			t.Errorf("%s: %+v", model, s)
		}
	}
	if s := find(t, r, 30*time.Minute, windowpeak.LastSeason); !s.Baseline || math.Abs(s.MASE-1) > 0.03 {
		t.Errorf("repeating the last day: %+v", s)
	}
}

// Of a demand that repeats itself exactly the last season is right always, and no other baseline is.
func TestPerfectModel(t *testing.T) {
	t.Parallel()
	r := judged(t, demand(10*time.Minute, 10*day, daily(0)), 10*time.Minute)
	s := find(t, r, 30*time.Minute, windowpeak.LastSeason)
	if s.MAE > 1e-5 || s.Loss > 1e-5 || s.Skill < 1-1e-5 || s.LossSkill < 1-1e-5 {
		t.Errorf("the last season: %+v", s)
	}
	for _, worse := range []string{windowpeak.LastValue, windowpeak.RunningMax} {
		if w := find(t, r, 30*time.Minute, worse); w.Loss < 0.1 || w.MAE < 1 {
			t.Errorf("%s: %+v", worse, w)
		}
	}
}

// The lead time is judged as a whole number of steps, and usual horizons that are none are replaced.
func TestHorizons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step, lead time.Duration
		want, note string
	}{
		{time.Minute, 5 * time.Minute, "2m0s 5m0s 10m0s 30m0s", ""},
		{time.Minute, 90 * time.Second, "2m0s 5m0s 10m0s 30m0s", "The lead time of 1m30s is rounded up to 2m, a whole number of steps."},
		{5 * time.Minute, 7 * time.Minute, "5m0s 10m0s 30m0s", "The lead time of 7m is rounded up to 10m, a whole number of steps."},
		{time.Hour, 2 * time.Minute, "1h0m0s 2h0m0s 4h0m0s", "The lead time of 2m is rounded up to 1h, a whole number of steps."},
	} {
		r := judged(t, demand(c.step, 500*c.step, daily(5)), c.lead)
		var got []string
		for _, s := range r.Scores {
			got = append(got, s.Horizon.String())
		}
		if text := strings.Join(slices.Compact(got), " "); text != c.want {
			t.Errorf("steps of %s, a lead time of %s: %s, want %s", c.step, c.lead, text, c.want)
		}
		if notes := strings.Join(
			r.Notes,
			"\n",
		); !strings.Contains(notes, c.note) ||
			c.note == "" && strings.Contains(notes, "lead time") {
			t.Errorf("a lead time of %s: %q", c.lead, r.Notes)
		}
	}
}

// Whatever the step and the values are, the result is figures or an error, with a note of what cannot be told.
func TestNoHistoryPanics(t *testing.T) {
	t.Parallel()
	const none = ""
	values := map[string]func() func(time.Duration) float64{
		"daily":    func() func(time.Duration) float64 { return daily(5) },
		"constant": func() func(time.Duration) float64 { return constant(7) },
		"zero":     func() func(time.Duration) float64 { return constant(0) },
		"gaps":     func() func(time.Duration) float64 { return constant(math.NaN()) },
	}
	const noDay = " do not divide a day into equal parts, so the models holt-winters and last-season, which repeat the previous day, are left out."
	for _, c := range []struct {
		step time.Duration
		n    int
		note string
	}{
		{345 * time.Second, 2500, "Steps of 5m45s" + noDay},
		{7 * time.Minute, 2100, "Steps of 7m" + noDay},
		{90 * time.Second, 4000, none},
		{time.Hour, 240, none},
		{6 * time.Hour, 180, none},
		{16 * time.Hour, 180, "Steps of 16h" + noDay},
		{day, 180, "Steps of 24h" + noDay},
		{time.Minute, 200, "The history is shorter than two days, so no model can learn a daily pattern."},
		{time.Minute, 3000, "The history has 2.1 days, and the models learn from half of them."},
		{time.Minute, 10, none},
	} {
		for name, of := range values {
			t.Run(fmt.Sprintf("%s, %d steps of %s", name, c.n, c.step), func(t *testing.T) {
				t.Parallel()
				s := demand(c.step, time.Duration(c.n)*c.step, of())
				r, err := accuracy.Run(t.Context(), accuracy.Config{Series: s, Lead: 5 * time.Minute}, nil)
				if name == "gaps" || c.n == 10 {
					if !errors.Is(err, forecast.ErrTooShort) {
						t.Errorf("%v, want that there is too little to judge", err)
					}
					return
				}
				if err != nil || !strings.Contains(strings.Join(r.Notes, "\n"), c.note) {
					t.Fatalf("%v, want the note %q in %+v", err, c.note, r)
				}
				last := find(t, r, r.Lead, windowpeak.LastValue)
				if name != "daily" &&
					(last.MAE != 0 || last.Loss != 0 || !math.IsNaN(last.Skill) || !math.IsNaN(last.MASE)) {
					t.Errorf("nothing to forecast: %+v", last)
				}
			})
		}
	}
}

// A fine history is judged at some of its steps.
func TestStride(t *testing.T) {
	if testing.Short() {
		t.Skip("a long history takes most of a minute under the race detector")
	}
	t.Parallel()
	r := judged(t, demand(time.Minute, 27_000*time.Minute, daily(5)), 5*time.Minute)
	if s := find(t, r, 5*time.Minute, windowpeak.LastValue); s.Count < 9_900 || s.Count > 10_200 ||
		!slices.Contains(r.Notes, "One forecast is judged every 2m.") {
		t.Errorf("%d values are judged, %q", s.Count, r.Notes)
	}
}

// A value that one model did not forecast counts for none. Gaps are not judged.
func TestGaps(t *testing.T) {
	t.Parallel()
	s := demand(10*time.Minute, 10*day, daily(5))
	for i := range s.Values {
		if i%144 >= 100 && i%144 < 110 {
			s.Values[i] = math.NaN()
		}
	}
	r := judged(t, s, 10*time.Minute)
	counts := map[int]bool{}
	for _, s := range r.Scores {
		if s.Horizon == 30*time.Minute {
			counts[s.Count] = true
		}
	}
	if all := 1440 - 432; len(counts) != 1 || counts[all] {
		t.Errorf("models are judged on %v values", counts)
	}
}

// The result is the same every time, though the models run at the same time, and the progress never goes back.
func TestDeterminismAndProgress(t *testing.T) {
	t.Parallel()
	s := demand(10*time.Minute, 10*day, daily(5))
	var done []int
	got, err := accuracy.Run(
		t.Context(),
		accuracy.Config{Series: s, Lead: 10 * time.Minute},
		func(n, total int, what string) {
			done = append(done, n)
			if n > total || !strings.HasPrefix(what, "forecasts by ") {
				t.Errorf("%d of %d, %s", n, total, what)
			}
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(judged(t, s, 10*time.Minute), got, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
	if len(done) < 100 || done[0] != 1 || !slices.IsSorted(done) {
		t.Errorf("the progress is %v", done)
	}
}

// Interrupted half-way, Run returns the figures until then, for all models on the same values: none had been left behind by more than
// a part of the work. Interrupted before that, it returns an error.
func TestInterruption(t *testing.T) {
	t.Parallel()
	s := demand(10*time.Minute, 21*day, daily(5))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := accuracy.Run(ctx, accuracy.Config{Series: s, Lead: 10 * time.Minute}, func(done, total int, _ string) {
		if done == total/2 {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	last := find(t, r, 10*time.Minute, windowpeak.LastValue)
	if !r.Partial || !r.To.Before(s.End()) || last.Count < 1000 || last.Count > 1500 {
		t.Errorf("partial %v, judged to %s, %d values", r.Partial, r.To, last.Count)
	}
	models := 0
	for _, s := range r.Scores {
		if s.Horizon != last.Horizon {
			continue
		}
		models++
		if s.Count != last.Count {
			t.Errorf("%s is judged on %d values, the last value on %d", s.Model, s.Count, last.Count)
		}
	}
	if models != 7 {
		t.Errorf("%d models are judged, want all: %v", models, r.Notes)
	}
	if _, err := accuracy.Run(
		ctx,
		accuracy.Config{Series: s, Lead: time.Minute},
		nil,
	); !errors.Is(
		err,
		context.Canceled,
	) {
		t.Errorf("%v, want the context's error", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	s := demand(time.Minute, 300*time.Minute, daily(5))
	for name, c := range map[string]struct {
		config accuracy.Config
		want   error
	}{
		"no step":               {accuracy.Config{Series: forecast.Series{Values: s.Values}, Lead: time.Minute}, forecast.ErrParameter},
		"steps of a week":       {accuracy.Config{Series: forecast.Series{Step: 7 * day, Values: s.Values}, Lead: day}, forecast.ErrParameter},
		"no lead time":          {accuracy.Config{Series: s}, forecast.ErrParameter},
		"nothing":               {accuracy.Config{Series: forecast.Series{Step: time.Minute}, Lead: time.Minute}, forecast.ErrTooShort},
		"a long lead time":      {accuracy.Config{Series: s, Lead: 40 * time.Minute}, forecast.ErrTooShort},
		"the longest lead time": {accuracy.Config{Series: s, Lead: math.MaxInt64}, forecast.ErrTooShort},
	} {
		if _, err := accuracy.Run(t.Context(), c.config, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
