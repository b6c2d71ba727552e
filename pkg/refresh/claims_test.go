package refresh_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// A store of several clusters, whose namespaces of one name add up, is said in the status.
func TestClustersThatAddUpAreSaid(t *testing.T) {
	for clusters, want := range map[float64]bool{2: true, 1: false, math.NaN(): false} {
		source := sources{"demand": {demand: daily}, "clusters": {demand: func(time.Time) float64 { return clusters }}}
		several := jobOf("llama")
		several.SideQueries = refresh.SideQueries{refresh.Clusters: "clusters"}
		loop, _ := newLoop(t, source, fixedJobs{several})
		c := condition(t, entry(t, loop.Step(t.Context(), noon), "llama"), snapshot.ConditionSource)
		if said := strings.Contains(c.Message, "from 2 clusters") &&
			strings.Contains(c.Message, "--cluster"); said != want ||
			!c.True {
			t.Errorf("%v clusters: %+v", clusters, c)
		}
	}
}

// What is hardly the total demand is said, and a counter is not served.
func TestImplausibleSignals(t *testing.T) {
	frozen := noon.Add(-2 * time.Hour)
	for name, c := range map[string]struct {
		demand  func(time.Time) float64
		silent  float64
		average bool
		state   snapshot.State
		reason  string
	}{
		"a demand":        {demand: daily, state: snapshot.Ready},
		"a counter":       {demand: func(at time.Time) float64 { return float64(at.Unix()-noon.Unix()) + 1e6 }, state: snapshot.Invalid},
		"an average":      {demand: daily, average: true, state: snapshot.Ready, reason: "Average"},
		"silent replicas": {demand: daily, silent: 2, state: snapshot.Ready, reason: "SilentReplicas"},
		"a frozen exporter": {demand: func(at time.Time) float64 {
			if at.After(frozen) {
				at = frozen
			}
			return daily(at)
		}, state: snapshot.Ready, reason: "Frozen"},
	} {
		source := sources{"demand": {demand: c.demand}, "silent": {demand: func(time.Time) float64 { return c.silent }}}
		one := jobOf("llama")
		one.SideQueries, one.Average = refresh.SideQueries{refresh.NotReporting: "silent"}, c.average
		loop, _ := newLoop(t, source, fixedJobs{one})
		e := entry(t, loop.Step(t.Context(), noon), "llama")
		if c.silent > 0 && hasCondition(e, snapshot.ConditionSignal) {
			t.Errorf("%s: replicas that are silent once may have started just now", name)
		}
		for i := range 6 {
			e = entry(t, loop.Step(t.Context(), noon.Add(time.Duration(i+1)*step)), "llama")
		}
		if e.State != c.state || hasCondition(e, snapshot.ConditionSignal) != (c.reason != "") {
			t.Errorf("%s: %s: %+v", name, e.ReadyMessage(), e.Conditions)
		} else if c.reason != "" {
			if got := condition(t, e, snapshot.ConditionSignal); got.True || got.Reason != c.reason {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if _, err := e.Answer(decide.Overrides{}, noon); (err == nil) != c.state.Serves() {
			t.Errorf("%s: answers %v", name, err)
		}
		if n := len(source["silent"].queries); n != 2 {
			t.Errorf("%s: silent replicas were counted %d times in 7 minutes, want 2", name, n)
		}
	}
}

// A target that is far from what replicas sustain is said after half an hour, and not after one that was carried well.
func TestATargetIsJudgedByTheLoad(t *testing.T) {
	const target20 = 20
	for name, c := range map[string]struct {
		perReplica float64
		saturated  func(minute int) float64
		want       string
	}{
		"saturated at a fifth":                {4, always(1), "TargetTooHigh"},
		"five times, and calm":                {100, always(0), "TargetTooLow"},
		"at the target":                       {20, always(1), ""},
		"idle":                                {4, always(0), ""},
		"saturated now and then":              {4, func(minute int) float64 { return float64(minute % 2) }, ""},
		"five times, and saturated":           {100, always(1), ""},
		"saturated at half":                   {10, always(1), ""},
		"carried well, and then idle":         {10, always(0), ""},
		"saturated at a fifth for 20 minutes": {4, func(minute int) float64 { return max(0, min(1, float64(20-minute))) }, ""},
	} {
		source := sources{
			"demand": {
				demand: func(at time.Time) float64 { return c.perReplica * (5 + 0.2*math.Sin(float64(at.Unix()))) },
			},
			"ready":     {demand: func(time.Time) float64 { return 5 }},
			"saturated": {demand: func(at time.Time) float64 { return c.saturated(int(at.Sub(noon) / time.Minute)) }},
		}
		one := jobOf("llama")
		one.SideQueries = refresh.SideQueries{refresh.Ready: "ready", refresh.Saturated: "saturated"}
		one.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: hpa.Spec{
			Min: 1, Max: 10, Metrics: []hpa.Metric{{Name: "demand", Type: hpa.AverageValue, Target: 1000 * target20}},
		}}}
		loop, _ := newLoop(t, source, fixedJobs{one})
		got := ""
		for minute := range 45 {
			e := entry(t, loop.Step(t.Context(), noon.Add(time.Duration(minute)*time.Minute)), "llama")
			if hasCondition(e, snapshot.ConditionSignal) {
				got = condition(t, e, snapshot.ConditionSignal).Reason
			}
			if minute == 20 && got != "" {
				t.Errorf("%s: %s after 20 minutes", name, got)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func always(v float64) func(int) float64 { return func(int) float64 { return v } }

// A condition stays for twice as long as its problem, and longer if that comes back; one that was there from the beginning goes at once.
func TestConditionsDoNotFlap(t *testing.T) {
	away := func(minute int) bool {
		return minute < 3 || minute == 20 || minute == 21 || minute == 22 || minute == 40
	}
	said := func(minute int) bool { return minute < 3 || minute >= 20 && minute < 26 || minute >= 40 && minute < 70 }
	now := noon
	source := &demandSource{demand: daily}
	source.fail = func(refresh.Query) error {
		if away(int(now.Sub(noon) / time.Minute)) {
			return fmt.Errorf("%w: 503", series.ErrUnavailable)
		}
		return nil
	}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	for ; now.Before(noon.Add(80 * time.Minute)); now = now.Add(time.Minute) {
		minute := int(now.Sub(noon) / time.Minute)
		c := condition(t, entry(t, loop.Step(t.Context(), now), "llama"), snapshot.ConditionSource)
		if minute > 2 && minute < 5 {
			continue // The pause between two attempts to read the history.
		}
		if c.True == said(minute) {
			t.Errorf("minute %d: %+v", minute, c)
		}
	}
}

// While kube-state-metrics does not know the pods that report, there is no sample: the value does not fall, and the condition says
// what to check. No one is asked for them while there are samples.
func TestPodsWithoutAKnownOwnerAreSaid(t *testing.T) {
	for unowned, want := range map[float64]bool{3: true, math.NaN(): false} {
		source := sources{"unowned": {demand: func(time.Time) float64 { return unowned }}, "demand": {
			demand: func(at time.Time) float64 {
				if at.After(noon) {
					return math.NaN()
				}
				return daily(at)
			},
		}}
		one := jobOf("llama")
		one.SideQueries = refresh.SideQueries{refresh.UnknownOwner: "unowned"}
		loop, _ := newLoop(t, source, fixedJobs{one})
		before := entry(t, loop.Step(t.Context(), noon), "llama")
		if n := len(source["unowned"].queries); n != 0 || hasCondition(before, snapshot.ConditionSignal) {
			t.Errorf("with a sample pods without an owner were counted %d times: %+v", n, before.Conditions)
		}
		after := entry(t, loop.Step(t.Context(), noon.Add(6*step)), "llama")
		if after.State != snapshot.FallingBack || after.Decision.Value < before.Observed {
			t.Errorf("%s serves %g, before it observed %g", after.State, after.Decision.Value, before.Observed)
		}
		if hasCondition(after, snapshot.ConditionSignal) != want {
			t.Fatalf("%g pods: %+v", unowned, after.Conditions)
		}
		if !want {
			continue
		}
		c := condition(t, after, snapshot.ConditionSignal)
		if c.True || c.Reason != "OwnersUnknown" ||
			!strings.Contains(c.Message, "check that all shards of kube-state-metrics") {
			t.Errorf("%+v", c)
		}
	}
}
