package refresh_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// changedAt is a demand whose unit changes at a time by a factor.
func changedAt(at time.Time, factor float64, demand func(time.Time) float64) func(time.Time) float64 {
	return func(t time.Time) float64 {
		if t.Before(at) {
			return demand(t)
		}
		return factor * demand(t)
	}
}

// byObjective is a Forecast with an objective and an autoscaler whose replicas sustain so much.
func byObjective(name string, target float64) refresh.Job {
	j := jobOf(name)
	j.Settings = decide.Settings{
		Late:   0.01,
		Wait:   30 * time.Second,
		Target: target,
		Lead:   5 * time.Minute,
		Mode:   decide.Floor,
	}
	j.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: hpa.Spec{
		Min:     1,
		Max:     100_000,
		Cluster: hpa.DefaultCluster(),
		Metrics: []hpa.Metric{
			{Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: int64(1000 * target)},
		},
	}}}
	return j
}

// unitFigure is served ÷ demand: one hour after a change of the unit, and the highest from six to twelve o'clock the next morning.
type unitFigure struct{ hour, morning float64 }

// playUnit plays a change of the unit of several Forecasts.
func playUnit(t *testing.T, at time.Time, demand func(time.Time) float64, jobs ...refresh.Job) []unitFigure {
	t.Helper()
	loop, _ := newLoop(t, &demandSource{demand: demand}, fixedJobs(jobs))
	out := make([]unitFigure, len(jobs))
	morning := at.Truncate(24 * time.Hour).Add(30 * time.Hour)
	for now := at.Add(-5 * time.Minute); now.Before(morning.Add(6 * time.Hour)); now = now.Add(jobs[0].Step) {
		s := loop.Step(t.Context(), now)
		for i, j := range jobs {
			e := entry(t, s, j.Key.Name)
			ratio := e.Decision.Value / e.Observed
			switch after := now.Sub(at); {
			case after == time.Hour:
				out[i].hour = ratio
			case !now.Before(morning):
				out[i].morning = math.Max(out[i].morning, ratio)
			}
		}
	}
	return out
}

// After a change of the unit the value follows within an hour, and the next morning is forecast in the new unit.
func TestUnitChangeIsFollowed(t *testing.T) {
	t.Parallel()
	for _, factor := range []float64{1. / 3600, 1. / 1000, 1. / 60, 60, 100, 1000} {
		for _, hour := range []int{2, 9, 14, 20} {
			t.Run(fmt.Sprintf("%.4g at %d:07", factor, hour), func(t *testing.T) {
				t.Parallel()
				at := time.Date(2026, 11, 18, hour, 7, 0, 0, time.UTC)
				got := playUnit(t, at, changedAt(at, factor, daily), jobOf("quantile"), byObjective("objective", 10))
				for i, f := range got {
					t.Logf("%d: %.2f times the demand after an hour, %.2f the next morning", i, f.hour, f.morning)
					if !(f.hour <= 2) || !(f.morning <= 1.5) {
						t.Errorf(
							"served are %.2f times the demand after an hour, want 2, and %.2f the next morning, want 1.5",
							f.hour,
							f.morning,
						)
					}
				}
			})
		}
	}
}

// A changed unit is said for a day, and all replicas agree: one that starts at any time serves the same as one that has seen the change,
// also when only the end of what came before it is left in the history.
func TestReplicasAgreeAboutAChangedUnit(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	at := noon.Add(7 * time.Minute)
	source := &demandSource{demand: changedAt(at, 1./60, daily)}
	old, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	const steps = 60 * 60
	for minute := range steps {
		now := at.Add(time.Duration(minute-5) * step)
		e := entry(t, old.Step(t.Context(), now), "llama")
		if minute%97 == 0 || minute > 40 && minute < 60 {
			fresh, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
			other := entry(t, fresh.Step(t.Context(), now), "llama")
			if e.Decision.Value != other.Decision.Value || e.Observed != other.Observed {
				t.Errorf(
					"%s after the change: %v, a new replica %v",
					now.Sub(at),
					e.Decision.Value,
					other.Decision.Value,
				)
			}
		}
		if minute > 65 && !(e.Decision.Value < 2*e.Observed) {
			t.Fatalf("%s after the change %v is served of %v", now.Sub(at), e.Decision.Value, e.Observed)
		}
		if minute != 60 && minute != steps-1 {
			continue
		}
		at := slices.IndexFunc(
			e.Conditions,
			func(c snapshot.Condition) bool { return c.Reason == snapshot.ReasonUnitChanged },
		)
		if minute == 60 != (at >= 0) {
			t.Errorf("%d minutes later: %+v", minute-5, e.Conditions)
		}
		if at >= 0 {
			for _, want := range []string{"2026-11-18 12:07:00 UTC", "only 1/60 of what it was before"} {
				if c := e.Conditions[at]; c.True || !strings.Contains(c.Message, want) {
					t.Errorf("%+v, want %q", c, want)
				}
			}
		}
	}
}
