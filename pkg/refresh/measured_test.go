package refresh_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// measuredTarget has an objective over four days, and a query of what users saw.
func measuredTarget() refresh.Job {
	out := jobOf("llama")
	out.History, out.SideQueries = 5*24*time.Hour, refresh.SideQueries{refresh.Measured: "measured"}
	out.Settings = decide.Settings{
		Late:   0.01,
		Wait:   30 * time.Second,
		Over:   4 * 24 * time.Hour,
		Target: 10,
		Lead:   out.Lead,
	}
	out.Autoscalers = hpaWithMax(50)
	return out
}

// What is measured is read from the history at once, and said; what is no share is said to be none, and never a figure.
func TestMeasuredIsReported(t *testing.T) {
	always := func(share float64) func(time.Time) float64 { return func(time.Time) float64 { return share } }
	for _, tt := range []struct {
		name  string
		share func(time.Time) float64
		err   error
		// late is what is measured, NaN for nothing; reason and message those of SignalPlausible, if it is there.
		late            float64
		reason, message string
	}{
		{name: "as simulated", share: always(0), late: 0},
		{name: "rounding", share: always(-1e-12), late: 0},
		{
			name: "far more", share: always(0.05), late: 0.05,
			reason: "LatenessDiffers", message: "over the last day, 5% of the requests waited longer than 30s according to objective.measured, but ",
		},
		{
			name: "for the busier half of the demand", late: 0.009 * 0.8, share: func(at time.Time) float64 {
				if daily(at) > daily(noon) {
					return 0.009
				}
				return 0
			},
		},
		{name: "none", share: always(math.NaN()), late: math.NaN(), reason: "MeasuredUnusable", message: "no value for the last day"},
		{
			name: "no series", share: always(0), err: series.ErrNoSeries, late: math.NaN(),
			reason: "MeasuredUnusable", message: "no value for the last day",
		},
		{
			name: "several", share: always(0), err: fmt.Errorf("2: %w", series.ErrSeveralSeries), late: math.NaN(),
			reason: "MeasuredUnusable", message: "2: ",
		},
		{
			name: "a percentage", share: always(5), late: math.NaN(), reason: "MeasuredUnusable", message: "it returned 5: write a query for the share",
		},
		{name: "below 0", share: always(-0.2), late: math.NaN(), reason: "MeasuredUnusable", message: "it returned -0.2"},
	} {
		measured := &demandSource{demand: tt.share, fail: func(refresh.Query) error { return tt.err }}
		loop, _ := newLoop(t, sources{"demand": {demand: daily}, "measured": measured}, fixedJobs{measuredTarget()})
		e := entry(t, loop.Step(t.Context(), noon), "llama")
		late := math.NaN()
		if m := e.Objective.Measured; m != nil {
			late = m.Late
		}
		if math.Abs(late-tt.late) > 0.2*tt.late || math.IsNaN(late) != math.IsNaN(tt.late) {
			t.Errorf("%s: %v is late, want %v", tt.name, late, tt.late)
		}
		if tt.reason == "" {
			if hasCondition(e, snapshot.ConditionSignal) {
				t.Errorf("%s: %+v", tt.name, condition(t, e, snapshot.ConditionSignal))
			}
			continue
		}
		if c := condition(t, e, snapshot.ConditionSignal); c.True || c.Reason != tt.reason ||
			!strings.Contains(c.Message, tt.message) {
			t.Errorf("%s: %+v, want %s with %q", tt.name, c, tt.reason, tt.message)
		}
		if q := measured.queries[0]; q.Step != 5*time.Minute || q.Points() != 4*24*12 {
			t.Errorf("%s: %d points of %s, want the budget's period", tt.name, q.Points(), q.Step)
		}
	}
}

// Lateness that begins to differ is a condition a day and a half later, as long as it lasts, and for one who starts then just the
// same. Meanwhile the same is served as to one who measures nothing, and the query is asked every five minutes for what is new.
func TestMeasuredDiffersForADay(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	began, ended := noon, noon.Add(40*time.Hour)
	query := &demandSource{demand: func(at time.Time) float64 {
		if at.After(began) && !at.After(ended) {
			return 0.2
		}
		return 0
	}}
	source := sources{"demand": {demand: daily}, "measured": query}
	without := measuredTarget()
	without.SideQueries = nil
	loop, _ := newLoop(t, source, fixedJobs{measuredTarget()})
	plain, _ := newLoop(t, sources{"demand": {demand: daily}}, fixedJobs{without})
	differs := func(e *snapshot.ForecastSnapshot) bool {
		return hasCondition(e, snapshot.ConditionSignal) &&
			condition(t, e, snapshot.ConditionSignal).Reason == "LatenessDiffers"
	}
	for now := noon.Add(-step); now.Before(noon.Add(72 * time.Hour)); now = now.Add(step) { // A step that is left out is served late.
		e, other := entry(t, loop.Step(t.Context(), now), "llama"), entry(t, plain.Step(t.Context(), now), "llama")
		if e.Decision.Value != other.Decision.Value || e.Decision.Reason() != other.Decision.Reason() {
			t.Fatalf("at %s %+v is served, without it %+v", now, e.Decision, other.Decision)
		}
		since := now.Sub(began)
		if want := since > 40*time.Hour && since < 60*time.Hour; since < 36*time.Hour || want || since > 65*time.Hour {
			if differs(e) != want {
				t.Fatalf("%s after it began: differs %v, want %v", since, differs(e), want)
			}
		}
		if since == 45*time.Hour-step {
			late, _ := newLoop(t, source, fixedJobs{measuredTarget()})
			if !differs(entry(t, late.Step(t.Context(), now), "llama")) {
				t.Error("one who starts now does not see it")
			}
		}
	}
	whole := 0
	for _, q := range query.queries {
		if q.Points() > 3 {
			whole++
		}
	}
	if n := len(query.queries); whole > 20 || n < 800 || n > 900 {
		t.Errorf("%d queries, %d of them of the whole period", n, whole)
	}
}
