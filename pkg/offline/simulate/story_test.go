package simulate_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/refresh"
)

var update = flag.Bool("update", false, "write the stories again")

// storyLoop is a Forecast of a scenario with a lead time of 5 minutes: a quantile, or an objective with 100 a replica.
func storyLoop(t *testing.T, objective bool) *simulate.Loop {
	t.Helper()
	target := refresh.Job{
		Key: snapshot.Key{Namespace: "inference", Name: "llama"}, Expr: "demand", Step: demandtest.Step,
		History: 14 * day, Lead: 5 * time.Minute, StaleAfter: 10 * time.Minute,
		Settings: decide.Settings{Quantile: 0.95, Lead: 5 * time.Minute},
		// The others take their time to fit.
		Models: []string{windowpeak.SES, windowpeak.HoltWinters},
	}
	if objective {
		target.Settings = decide.Settings{Late: 0.01, Target: 100, Lead: 5 * time.Minute}
		target.Autoscalers = []decide.Autoscaler{{Name: "HorizontalPodAutoscaler/llama", HPA: hpa.Spec{
			Min: 1, Max: 1 << 30, Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: 100_000}},
		}}}
	}
	p, err := simulate.NewLoop(t.Context(), target, refresh.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reasonOf is in a word or two why the value is what it is.
func reasonOf(e *snapshot.ForecastSnapshot) string {
	var words []string
	for _, c := range e.Conditions {
		if c.Type == snapshot.ConditionData && !c.True {
			words = append(words, c.Reason)
		}
	}
	switch {
	case !e.State.Serves():
		words = append(words, string(e.State))
	case e.Fallback:
		words = append(words, "running maximum")
	case e.Decision.Bounded:
		words = append(words, "bound")
	case e.Decision.Floored:
		words = append(words, "observed")
	default:
		words = append(words, "forecast")
	}
	return strings.Join(words, ", ")
}

// entriesOf are the moments of a story, from the event on or, once it is over, from its end.
func entriesOf(s demandtest.Scenario) map[time.Duration]string {
	out := map[time.Duration]string{}
	for _, after := range []time.Duration{
		-time.Minute, 0, 30 * time.Second, time.Minute, 2 * time.Minute, 150 * time.Second, 9 * time.Minute,
	} {
		out[s.Event+after] = fmt.Sprintf("event %+v", after)
	}
	for _, after := range []time.Duration{0, 7 * time.Minute, time.Hour, 3 * time.Hour, 11 * time.Hour} {
		if at := s.Over + after; at < s.Length {
			out[at] = fmt.Sprintf("end %+v", after)
		}
	}
	return out
}

// story is what is served of a scenario, at the moments that matter.
func story(t *testing.T, s demandtest.Scenario) string {
	t.Helper()
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n%-16s%14s%14s  %-32s%14s  %s\n", s.Name, "", "demand", "quantile .95", "", "1 % late", "")
	moments, demand := entriesOf(s), s.Demand()
	byQuantile, byObjective := storyLoop(t, false), storyLoop(t, true)
	for i, v := range demand.Values {
		since := time.Duration(i) * demandtest.Step
		// A step ends when the next begins, and its sample is asked for a step later.
		o := simulate.Observation{At: demand.TimeAt(i + 1), Demand: v, Arrived: v}
		if since < s.Event-2*time.Minute {
			byQuantile.Skip(o)
			byObjective.Skip(o)
			continue
		}
		a, b := byQuantile.Outlook(o), byObjective.Outlook(o)
		if name, ok := moments[since]; ok {
			fmt.Fprintf(&out, "%-16s%14.6g%14.6g  %-32s%14.6g  %s\n",
				name, v, a.Decision.Value, reasonOf(a), b.Decision.Value, reasonOf(b))
		}
		bounded(t, s, since, v, a, b)
	}
	return out.String() + "\n"
}

// bounded checks what holds in every story.
func bounded(
	t *testing.T, s demandtest.Scenario, since time.Duration, demand float64, entries ...*snapshot.ForecastSnapshot,
) {
	t.Helper()
	for _, e := range entries {
		v := e.Decision.Value
		if !(v >= 0) || math.IsInf(v, 0) {
			t.Errorf("%s, %s: %v is served of %v", s.Name, since, v, demand)
		}
	}
}

// TestStories tells of every scenario what is served when, and why: read the difference before you update it (-update).
func TestStories(t *testing.T) {
	if testing.Short() {
		t.Skip("all scenarios, at their whole length")
	}
	t.Parallel()
	all := make([]string, len(demandtest.Scenarios()))
	var stories sync.WaitGroup
	for i, s := range demandtest.Scenarios() {
		stories.Go(func() { all[i] = story(t, s) })
	}
	stories.Wait()
	path := filepath.Join("testdata", "stories.txt")
	got := strings.Join(all, "")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the stories are others (-want +got); where they are right, write them by -update\n%s", diff)
	}
}
