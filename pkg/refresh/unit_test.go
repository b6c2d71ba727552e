package refresh_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
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
	j.Settings = decide.Settings{Late: 0.01, Wait: 30 * time.Second, Target: target, Lead: 5 * time.Minute, Mode: decide.Floor}
	j.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: hpa.Spec{
		Min: 1, Max: 100_000, Cluster: hpa.DefaultCluster(),
		Metrics: []hpa.Metric{{Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: int64(1000 * target)}},
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
	for _, factor := range []float64{1. / 3600, 1. / 1000, 1. / 60, 60, 100, 1000} {
		for _, hour := range []int{2, 9, 14, 20} {
			t.Run(fmt.Sprintf("%.4g at %d:07", factor, hour), func(t *testing.T) {
				t.Parallel()
				at := time.Date(2026, 11, 18, hour, 7, 0, 0, time.UTC)
				got := playUnit(t, at, changedAt(at, factor, daily), jobOf("quantile"), byObjective("objective", 10))
				for i, f := range got {
					t.Logf("%d: %.2f times the demand after an hour, %.2f the next morning", i, f.hour, f.morning)
					if !(f.hour <= 2) || !(f.morning <= 1.5) {
						t.Errorf("served are %.2f times the demand after an hour, want 2, and %.2f the next morning, want 1.5",
							f.hour, f.morning)
					}
				}
			})
		}
	}
}

func TestUnitFigures(t *testing.T) {
	data := os.Getenv("FOREWARM_DATA")
	if data == "" || os.Getenv("FIGURES") == "" {
		t.Skip("FOREWARM_DATA is unset: it names the folder with recorded workloads")
	}
	var all []demandtest.Recorded
	for _, folder := range []string{"outcome/series_15s", "outcome/workloads"} {
		r, err := demandtest.Read(filepath.Join(data, folder))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r...)
	}
	for _, r := range all {
		s, err := simulate.Resample(r.Series, step)
		if err != nil || s.Len() < 6*24*60 || !strings.Contains(r.Name, os.Getenv("FIGURES")) {
			continue
		}
		if err := demandtest.Scale(s, 12_000); err != nil {
			t.Fatal(err)
		}
		read := func(at time.Time) float64 {
			if i := int(at.Sub(s.Start) / step); i >= 0 && i < s.Len() && !at.Before(s.Start) {
				return s.Values[i]
			}
			return math.NaN()
		}
		for _, factor := range []float64{1. / 60, 60} {
			var hours, mornings [2][]float64
			for k, h := range []int{3, 8, 11, 15, 19, 23} {
				at := s.Start.Truncate(24 * time.Hour).Add(time.Duration(4+k%2)*24*time.Hour + time.Duration(h)*time.Hour + 7*time.Minute)
				a, b := jobOf("quantile"), byObjective("objective", 1000)
				a.History, b.History = 14*24*time.Hour, 14*24*time.Hour
				for i, f := range playUnit(t, at, changedAt(at, factor, read), a, b) {
					hours[i], mornings[i] = append(hours[i], f.hour), append(mornings[i], f.morning)
				}
			}
			for i, name := range []string{"quantile", "objective"} {
				slices.Sort(hours[i])
				slices.Sort(mornings[i])
				fmt.Printf("%s %s %.4g: hour %.3g  morning %.3g\n", r.Name, name, factor, hours[i], mornings[i])
			}
		}
	}
}

var _ = snapshot.ConditionData
