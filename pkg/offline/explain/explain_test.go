package explain_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

var update = flag.Bool("update", false, "update the sentences of testdata")

// noon is when every story plays.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// inputOf is an HPA of 1 to 20 replicas on a total of ten a replica, with so many replicas and so much demand.
func inputOf(replicas int32, demand float64, changes ...func(*explain.Input)) *explain.Input {
	s := &explain.Input{
		HPA: "inference/llama", Target: "Deployment/llama", Now: noon(),
		Spec: hpa.Spec{
			Min: 1, Max: 20, Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{Name: "inflight", Source: hpa.External, Type: hpa.AverageValue, Target: 10_000}},
		},
		Metrics: []explain.Metric{{Reading: hpa.Reading{Values: []int64{int64(demand * 1000)}}, From: "--value"}},
		Scale:   explain.Scale{Replicas: replicas, Existing: replicas, Pods: replicas, Ready: replicas},
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

// withBehavior gives the HPA the default behavior, with a change.
func withBehavior(change func(*hpa.Behavior)) func(*explain.Input) {
	return func(s *explain.Input) {
		s.Spec.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
		change(s.Spec.Behavior)
	}
}

// withForecast puts a Forecast behind the metric that serves the reading, with a change.
func withForecast(change func(*explain.Forecast)) func(*explain.Input) {
	return func(s *explain.Input) {
		served := float64(s.Metrics[0].Reading.Values[0]) / 1000
		f := &explain.Forecast{
			Name:         "inflight",
			State:        snapshot.Ready,
			ReadyMessage: "arima serves",
			Unit:         "requests",
			Observed:     served,
			Served:       served,
			Peak:         served,
			Highest:      served,
			Steepest:     explain.Rise{From: math.NaN(), To: math.NaN()},
			Goal:         "1% late",
			Lead:         5 * time.Minute,
			LeadSource:   "p90 of 14 starts",
			Window:       375 * time.Second,
			Reason:       "the forecast peak within the next 6m15s is 100, plus 26 headroom for past forecast errors: 126 in total (3 replicas at 50 each)",
		}
		change(f)
		s.Metrics[0].Forecast = f
	}
}

func explained(t *testing.T, s *explain.Input) *explain.Explanation {
	t.Helper()
	e, err := explain.Explain(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The figures are by hand.
func TestFigure(t *testing.T) {
	hour := func(b *hpa.Behavior) { b.Down.Stabilization = time.Hour }
	at := func(n int32, seconds float64) explain.Settling {
		return explain.Settling{Replicas: n, Seconds: seconds}
	}
	for _, c := range []struct {
		name    string
		s       *explain.Input
		want    int32
		settles explain.Settling
	}{
		{"173 / 10 rounds up", inputOf(12, 173), 18, at(18, 0)},
		{"125 of 120 are within a tenth", inputOf(12, 125), 12, at(12, 0)},
		{"132 of 120 still are", inputOf(12, 132), 12, at(12, 0)},
		{"132.001 are not", inputOf(12, 132.001), 14, at(14, 0)},
		{"maxReplicas", inputOf(12, 400), 20, at(20, 0)},
		{"minReplicas", inputOf(4, 5, func(s *explain.Input) { s.Spec.Min = 3 }), 4, at(3, 315)},
		{"a doubling, four at least: 1, 4, 8, 16, 20", inputOf(1, 400), 4, at(20, 45)},
		{"a scale-down waits for five minutes", inputOf(12, 30), 12, at(3, 315)},
		{"or as long as the behavior says", inputOf(12, 30, withBehavior(hour)), 12, at(3, 3600)},
		{"or not at all", inputOf(12, 30, withBehavior(func(b *hpa.Behavior) { b.Down.Stabilization = 0 })), 3, at(3, 0)},
		{"a scale-up may wait too", inputOf(3, 100, withBehavior(func(b *hpa.Behavior) { b.Up.Stabilization = time.Minute })), 3, at(10, 75)},
		{"one pod a minute", inputOf(3, 60, withBehavior(func(b *hpa.Behavior) {
			b.Up.Policies = []hpa.ScalingPolicy{{Type: hpa.Pods, Value: 1, Period: time.Minute}}
		})), 4, at(6, 120)},
		{"above maxReplicas nothing is asked", inputOf(30, 5), 20, at(1, 315)},
		{"at zero nothing happens", inputOf(0, 50), 0, at(0, 0)},
		{"unless the HPA itself put it there: four at least, then five", inputOf(0, 50, scaledToZero), 4, at(5, 15)},
		{"a metric that fails changes nothing", inputOf(12, 400, failing), 12, at(12, 0)},
		{"a Value target compounds", inputOf(3, 20, func(s *explain.Input) { s.Spec.Metrics[0].Type = hpa.Value }), 6, at(20, 30)},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := explained(t, c.s)
			if e.Desired == nil || *e.Desired != c.want {
				t.Fatalf("%v replicas, want %d:\n%s", e.Desired, c.want, strings.Join(e.Sentences, "\n"))
			}
			if diff := cmp.Diff(&c.settles, e.Settles); diff != "" {
				t.Errorf("it settles otherwise (-want +got):\n%s", diff)
			}
		})
	}
}

func scaledToZero(s *explain.Input) {
	s.Spec.Min, s.Spec.Cluster.ScaleToZero = 0, true
	s.Live = &hpa.Status{Conditions: []hpa.Condition{{Type: "ScaledToZero", True: true}}}
}

func failing(s *explain.Input) {
	s.Metrics[0] = explain.Metric{Reading: hpa.Reading{Err: errors.New("no such metric")}}
}

// What is said of an HPA stands in testdata: read the difference before you update it (-update).
func TestSentences(t *testing.T) {
	several := func(s *explain.Input) {
		s.Spec.Metrics = append(s.Spec.Metrics,
			hpa.Metric{Name: "queue", Source: hpa.Object, Type: hpa.AverageValue, Target: 2_500})
		s.Metrics = append(s.Metrics, explain.Metric{Reading: hpa.Reading{Values: []int64{47_000}}})
	}
	minute := withBehavior(func(b *hpa.Behavior) { b.Down.Stabilization = time.Minute })
	held := hpa.Condition{Type: "AbleToScale", True: true, Reason: "ScaleDownStabilized"}
	var got strings.Builder
	for _, c := range []struct {
		name string
		s    *explain.Input
	}{
		{"a forecast", inputOf(12, 173, withForecast(func(f *explain.Forecast) { f.Observed = 140 }))},
		{"several metrics", inputOf(12, 125, several)},
		{"a scale-down that waits", inputOf(12, 30)},
		{"a scale-down that waits, and the HPA says so", inputOf(12, 30, minute, withStatus(12, 12, 30, held))},
		{"a rise in steps", inputOf(1, 400, func(s *explain.Input) { s.Scale.Existing = 0 })},
	} {
		fmt.Fprintf(&got, "# %s\n%s\n\n", c.name, strings.Join(explained(t, c.s).Sentences, "\n"))
	}
	const file = "testdata/sentences.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// withStatus is the status of an HPA that asked for so many replicas on so much demand.
func withStatus(desired, replicas int32, demand float64, conditions ...hpa.Condition) func(*explain.Input) {
	return func(s *explain.Input) {
		average := int64(math.Ceil(demand * 1000 / float64(replicas)))
		s.Live = &hpa.Status{
			Desired: desired, Current: replicas, Conditions: conditions, LastScale: noon().Add(-20 * time.Second),
		}
		s.Metrics[0].InStatus = &average
	}
}

func TestComparison(t *testing.T) {
	held := hpa.Condition{Type: "AbleToScale", True: true, Reason: "ScaleDownStabilized"}
	for _, c := range []struct {
		name         string
		s            *explain.Input
		agrees, same bool
		why          string
	}{
		{"at rest", inputOf(12, 125, withStatus(12, 12, 125)), true, true, ""},
		{"an older reading", inputOf(12, 180, withStatus(12, 12, 125)), false, false, "read 10.417 per replica for inflight"},
		{"other replicas", inputOf(12, 180, withStatus(4, 3, 180)), false, false, "scaled to 3 replicas at the last sync, but is scaled to 12 now"},
		{"another memory", inputOf(12, 180, withStatus(12, 12, 180)), false, true, "flags (tolerance, stabilization)"},
		{
			"held", inputOf(12, 30, withStatus(14, 12, 30, held),
				withBehavior(func(b *hpa.Behavior) { b.Down.Stabilization = 0 })),
			false, true, "hold the HPA back (ScaleDownStabilized)",
		},
		{"an older spec", inputOf(12, 180, withStatus(12, 12, 180), func(s *explain.Input) { s.Live.Outdated = true }), false, true, "belongs to an older spec"},
	} {
		t.Run(c.name, func(t *testing.T) {
			live := explained(t, c.s).Live
			if live.Agrees != c.agrees || live.SameReadings != c.same {
				t.Errorf("agrees %t, same readings %t; want %t, %t", live.Agrees, live.SameReadings, c.agrees, c.same)
			}
			if why := strings.Join(live.Why, "\n"); !strings.Contains(why, c.why) || (c.why == "") != (why == "") {
				t.Errorf("why: %s, want %q", why, c.why)
			}
		})
	}
}

// What is wrong in an HPA's own hand is an error that says all of it.
func TestWrong(t *testing.T) {
	s := inputOf(-1, 5, func(s *explain.Input) { s.Spec.Max = 0; s.Spec.Metrics[0].Target = 0 })
	_, err := explain.Explain(s)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"inference/llama", "maxReplicas 0", "target 0m", "replicas below 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %q is not in it", err, want)
		}
	}
	if _, err = explain.Explain(&explain.Input{}); err == nil {
		t.Error("nothing at all is explained")
	}
}

// An HPA on the pods' CPU alone is not computed, and says what its status has.
func TestUncomputedMetricsAlone(t *testing.T) {
	s := inputOf(4, 0, withStatus(4, 4, 0), func(s *explain.Input) {
		s.Spec.Metrics, s.Metrics = nil, nil
		s.Uncomputed = []explain.UncomputedMetric{
			{Type: "Resource", Name: "cpu", Target: "80% of the request", Current: "75% of the request"},
		}
	})
	e := explained(t, s)
	if e.Desired != nil || e.Live.Agrees || len(e.Metrics) != 1 || e.Metrics[0].Live != "75% of the request" {
		t.Errorf("%+v", e)
	}
	if !slices.Contains(reasons(e), explain.MetricNotExplained) {
		t.Errorf("warnings: %v", reasons(e))
	}
}

func reasons(e *explain.Explanation) []string {
	var out []string
	for _, w := range e.Warnings {
		out = append(out, w.Reason)
	}
	return out
}

// What a status tells of the last change is counted against the policies. The figures are by hand.
func TestLastChange(t *testing.T) {
	limited := func(reason hpa.Reason) hpa.Condition {
		return hpa.Condition{Type: "ScalingLimited", True: true, Reason: string(reason)}
	}
	ago := func(d time.Duration) func(*explain.Input) {
		return func(s *explain.Input) { s.Live.LastScale = noon().Add(-d) }
	}
	slowly := func(b *hpa.Behavior) {
		b.Down.Stabilization = 0
		b.Down.Policies = []hpa.ScalingPolicy{{Type: "Percent", Value: 20, Period: time.Minute}}
	}
	standard := withBehavior(func(*hpa.Behavior) {})
	for _, c := range []struct {
		name string
		s    *explain.Input
		want int32
	}{
		{"2 became 6 by 4 pods in 15 s: not 7 yet", inputOf(6, 70, standard, withStatus(6, 6, 70, limited(hpa.ScaleUpLimit)), ago(4*time.Second)), 6},
		{"but after them", inputOf(6, 70, standard, withStatus(6, 6, 70, limited(hpa.ScaleUpLimit)), ago(15*time.Second)), 7},
		{"the status of the sync that went from 5 to 6: up to 10", inputOf(6, 170, standard, withStatus(6, 5, 60), ago(4*time.Second)), 10},
		{"of 6 from 6 it tells nothing: up to 12", inputOf(6, 170, standard, withStatus(6, 6, 60), ago(4*time.Second)), 12},
		{"without a behavior there is no memory", inputOf(6, 170, withStatus(6, 5, 60), ago(4*time.Second)), 12},
		{"10 became 8, a fifth in a minute: not less yet", inputOf(8, 10, withBehavior(slowly), withStatus(8, 8, 10, limited(hpa.ScaleDownLimit)), ago(40*time.Second)), 8},
		{"but after it", inputOf(8, 10, withBehavior(slowly), withStatus(8, 8, 10, limited(hpa.ScaleDownLimit)), ago(time.Minute)), 6},
		{"somebody else scaled since", inputOf(9, 170, standard, withStatus(6, 6, 70, limited(hpa.ScaleUpLimit)), ago(4*time.Second)), 17},
		{"a time to come tells nothing", inputOf(6, 170, standard, withStatus(6, 5, 60), ago(-time.Hour)), 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := explained(t, c.s); *e.Desired != c.want {
				t.Errorf("%d replicas, want %d: %v", *e.Desired, c.want, e.Sentences)
			}
		})
	}
}
