package refresh_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// suddenLowJobs are an objective and a quantile, at steps of 30 s as by default.
func suddenLowJobs(target int64) map[string]refresh.Job {
	byQuantile, byObjective := jobOf("llama"), jobOf("llama")
	for _, j := range []*refresh.Job{&byQuantile, &byObjective} {
		j.Step, j.History, j.StaleAfter = 30*time.Second, 3*24*time.Hour, 10*time.Minute
	}
	byQuantile.Settings = decide.Settings{Quantile: 0.95, Lead: 5 * time.Minute, Mode: decide.Floor}
	byObjective.Settings = decide.Settings{
		Late: 0.01, Wait: 30 * time.Second, Target: float64(target), Lead: 5 * time.Minute, Mode: decide.Floor,
	}
	byObjective.Lead, byQuantile.Lead = 5*time.Minute, 5*time.Minute
	byObjective.Autoscalers = []decide.Autoscaler{{Name: decide.SpecScaling, HPA: hpa.Spec{
		Min: 1, Max: 50, Cluster: hpa.DefaultCluster(),
		Metrics:  []hpa.Metric{{Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: 1000 * target}},
		Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()},
	}}}
	return map[string]refresh.Job{"quantile": byQuantile, "objective": byObjective}
}

// A store is away for six minutes, and then answers with a tenth of the total. For two minutes what was served before holds, also in a
// replica that starts meanwhile; and it is said. Before, a quantile served the tenth at once, and three of four replicas went.
func TestAPartialTotalAfterAGapIsDoubted(t *testing.T) {
	wave := func(at time.Time) float64 {
		s := float64(at.Unix())
		return 100 + 80*math.Sin(2*math.Pi*math.Mod(s, 86400)/86400) + 5*math.Sin(s/777)
	}
	back := noon.Add(-6 * time.Hour)
	source := &demandSource{demand: func(at time.Time) float64 {
		switch {
		case at.Before(back.Add(-6*time.Minute)) || !at.Before(back.Add(90*time.Second)):
			return wave(at)
		case at.Before(back):
			return math.NaN()
		}
		return wave(at) / 10
	}}
	for name, job := range suddenLowJobs(40) {
		loop, _ := newLoop(t, source, fixedJobs{job})
		before := entry(t, loop.Step(t.Context(), back.Add(-6*time.Minute)), "llama").Decision.Value
		for now := back.Add(-5 * time.Minute); now.Before(back.Add(6 * time.Minute)); now = now.Add(job.Step) {
			e := entry(t, loop.Step(t.Context(), now), "llama")
			if v := e.Decision.Value; v < 0.95*wave(now) || v > 1.1*before {
				t.Errorf("%s: %s after the source is back %v is served, before %v: %s", name, now.Sub(back), v, before,
					e.ReadyMessage())
			}
			if !now.After(back) || now.After(back.Add(90*time.Second)) {
				continue
			}
			if c := condition(t, e, snapshot.ConditionData); c.Reason != snapshot.ReasonSuddenLow || c.True ||
				!strings.Contains(
					c.Message,
					"may be only a part of the total: Forewarm serves the value from before the fall until",
				) {
				t.Errorf("%s: %+v", name, c)
			}
			fresh, _ := newLoop(t, source, fixedJobs{job})
			if other := entry(t, fresh.Step(t.Context(), now), "llama"); other.Decision.Value != e.Decision.Value {
				t.Errorf("%s: a new replica serves %v, the old one %v", name, other.Decision.Value, e.Decision.Value)
			}
		}
	}
}

// One minute at a tenth of the demand: no more is served in the next hour than without it. Before, 10.8k was served instead of 5.6k.
func TestADipDoesNotRaiseTheValue(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	recorded, err := trace.ReadFile("../../testdata/traces/requests_14d.csv.gz", "requests")
	if err != nil {
		t.Fatal(err)
	}
	end := recorded.TimeAt(recorded.Len() - 1)
	dip := end.Add(-41 * time.Hour).Truncate(time.Minute)
	for name, job := range suddenLowJobs(1000) {
		job.History = 5 * 24 * time.Hour
		play := func(share float64) (highest, lowest float64) {
			source := &demandSource{demand: func(at time.Time) float64 {
				v := recorded.Values[min(max(0, int(at.Sub(recorded.Start)/recorded.Step)), recorded.Len()-1)]
				if !at.Before(dip) && at.Before(dip.Add(time.Minute)) {
					v *= share
				}
				return v
			}}
			loop, _ := newLoop(t, source, fixedJobs{job})
			lowest = math.Inf(1)
			for now := dip; now.Before(dip.Add(time.Hour)); now = now.Add(job.Step) {
				v := entry(t, loop.Step(t.Context(), now), "llama").Decision.Value
				highest, lowest = max(highest, v), min(lowest, v)
			}
			return highest, lowest
		}
		highest, lowest := play(1)
		for _, share := range []float64{0, 0.1, 0.3} {
			if h, l := play(share); h > 1.05*highest || l < 0.9*lowest {
				t.Errorf(
					"%s: with a minute at %v of the demand %v to %v is served, without it %v to %v",
					name,
					share,
					l,
					h,
					lowest,
					highest,
				)
			}
		}
	}
}

// Ten minutes at a tenth: the value follows, and never rises; the outage rule still takes over below 2 %.
func TestASuddenLowIsFollowed(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	for share, want := range map[float64]string{0.1: snapshot.ReasonSuddenLow, 0: snapshot.ReasonOutageSuspected} {
		source := &demandSource{demand: func(at time.Time) float64 {
			if !at.Before(noon) {
				return share * daily(at)
			}
			return daily(at)
		}}
		job := suddenLowJobs(10)["quantile"]
		loop, _ := newLoop(t, source, fixedJobs{job})
		before := entry(t, loop.Step(t.Context(), noon), "llama").Decision.Value
		for i := 1; i <= 19; i++ {
			now := noon.Add(time.Duration(i) * job.Step)
			e := entry(t, loop.Step(t.Context(), now), "llama")
			reason := want
			if now.Sub(noon) <= demand.FallDoubt {
				reason = snapshot.ReasonSuddenLow
				if e.Decision.Value != before {
					t.Errorf(
						"share %v: after %s %v is served, before %v",
						share,
						now.Sub(noon),
						e.Decision.Value,
						before,
					)
				}
			}
			got := reason
			if share == 0 || now.Sub(noon) <= demand.FallDoubt {
				got = condition(t, e, snapshot.ConditionData).Reason
			}
			if got != reason || e.Decision.Value > before {
				t.Errorf("share %v: after %s %s, and %v is served, before %v; want %s", share, now.Sub(noon), got,
					e.Decision.Value, before, reason)
			}
			fresh, _ := newLoop(t, source, fixedJobs{job})
			if other := entry(t, fresh.Step(t.Context(), now), "llama"); other.Decision.Value != e.Decision.Value {
				t.Errorf("share %v: after %s a new replica serves %v, the old one %v", share, now.Sub(noon),
					other.Decision.Value, e.Decision.Value)
			}
		}
	}
}
