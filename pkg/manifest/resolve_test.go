package manifest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

const header = "apiVersion: forewarm.dev/v1alpha1\nkind: Forecast\nmetadata: {name: llama, namespace: inference}\n"

// object parses one document that must have the right shape.
func object(t *testing.T, yaml string) *v1alpha1.Forecast {
	t.Helper()
	documents := manifest.Parse("test.yaml", []byte(yaml))
	if len(documents) != 1 || documents[0].Object == nil {
		t.Fatalf("parse: %+v", documents)
	}
	return documents[0].Object
}

// resolve resolves a Forecast that has no problem, of a folder or in the state of a cluster.
func resolve(t *testing.T, o *v1alpha1.Forecast, in ...manifest.ClusterState) refresh.Job {
	t.Helper()
	r := manifest.NewResolver(catalogue{})
	got, problems := r.Resolve(o)
	if len(in) > 0 {
		got, problems = r.ResolveIn(o, in[0])
	}
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return got
}

func TestDefaults(t *testing.T) {
	o := object(t, header+"spec: {targetRef: {kind: Deployment, name: llama}, signal: {preset: vllm/arrivals}}")
	o.Generation = 7
	before := o.DeepCopy()
	got := resolve(t, o)
	want := refresh.Job{
		Key:         snapshot.Key{Namespace: "inference", Name: "llama"},
		Generation:  7,
		Workload:    "Deployment/llama",
		Expr:        `vllm/arrivals{namespace="inference",Deployment="llama"}`,
		SideQueries: refresh.SideQueries{refresh.Ready: "ready(Deployment/llama)"},
		Unit:        "requests",
		Rate:        true,
		Step:        30 * time.Second,
		History:     14 * 24 * time.Hour,
		Lead:        5 * time.Minute,
		LeadSource:  "fallback 5m: pods are not watched without a cluster",
		StaleAfter:  10 * time.Minute,
		Settings: decide.Settings{
			Late: 0.01, BadHours: true, Wait: 30 * time.Second, Over: 14 * 24 * time.Hour, Lead: 5 * time.Minute,
			Mode: decide.Floor,
		},
		AutoscalerSource: "no autoscaler and no spec.scaling; autoscalers are not read without a cluster",
		Uncalibrated: "badHours 1% is not calibrated, because Forewarm does not know what one replica sustains: let " +
			"a HorizontalPodAutoscaler or a ScaledObject refer to this Forecast, or set spec.scaling.target; until " +
			"then the 0.95 quantile of the window peak is served; autoscalers are not read without a cluster",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, o); diff != "" {
		t.Errorf("Resolve changed the object: %s", diff)
	}
}

func TestEverythingSet(t *testing.T) {
	o := object(t, header+`spec:
  targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: llama}
  signal: {query: 'sum(rate(x[1m]))', saturated: 'max(queue)', delay: 50s}
  objective: {late: "0.5%", wait: 1m, measured: {preset: vllm/queue-time}}
  formerNames: [mistral]
  history: 7d
  step: 15s
  seasons: [1d, 60h]
  leadTime: {mode: Fixed, duration: 12m}
  serve: Shadow
  models: [HoltWinters, arima]
  events:
    - {name: launch, start: "2026-12-01T09:00", duration: 2h, times: "2.5", timeZone: Europe/Berlin, recurrence: FREQ=WEEKLY}
    - {name: sale, start: "2026-12-02", duration: 1d, atLeast: "12k"}
    - {name: report, start: "2026-12-03", duration: 1d, like: Last}
    - {name: holiday, start: "2026-12-25", duration: 1d, like: Sunday}
    - {name: load test, start: "2026-12-04", duration: 1h, ignore: true}
  scaling: {target: 4k, minReplicas: 0, maxReplicas: 50, before: {target: 2800, minReplicas: 2}}
`)
	got := resolve(t, o)
	want := refresh.Job{
		Key:      snapshot.Key{Namespace: "inference", Name: "llama"},
		Workload: "StatefulSet/llama",
		Expr:     "sum(rate(x[1m]))@inference",
		SideQueries: refresh.SideQueries{
			refresh.Saturated: "max(queue)@inference",
			refresh.Measured:  "late(inference,llama|mistral,1m0s)",
			refresh.Ready:     "ready(StatefulSet/llama)",
		},
		Step:       15 * time.Second,
		History:    7 * 24 * time.Hour,
		Lead:       12 * time.Minute,
		LeadSource: "fixed 12m",
		Delay:      time.Minute,
		StaleAfter: 12*time.Minute + 75*time.Second + time.Minute,
		Seasons:    []time.Duration{24 * time.Hour, 60 * time.Hour},
		Models:     []string{"holt-winters", "arima"},
		Events: []calendar.Event{
			{
				Name:       "launch",
				Start:      "2026-12-01T09:00",
				Duration:   2 * time.Hour,
				TimeZone:   "Europe/Berlin",
				Recurrence: "FREQ=WEEKLY",
				Knowledge:  event.Knowledge{Times: 2.5},
			},
			{Name: "sale", Start: "2026-12-02", Duration: 24 * time.Hour, Knowledge: event.Knowledge{AtLeast: 12_000}},
			{Name: "report", Start: "2026-12-03", Duration: 24 * time.Hour, Knowledge: event.Knowledge{LikeLast: true}},
			{
				Name:      "holiday",
				Start:     "2026-12-25",
				Duration:  24 * time.Hour,
				Knowledge: event.Knowledge{LikeDay: new(time.Sunday)},
			},
			{Name: "load test", Start: "2026-12-04", Duration: time.Hour, Knowledge: event.Knowledge{Ignored: true}},
		},
		Settings: decide.Settings{
			Late: 0.005, Wait: time.Minute, Over: 7 * 24 * time.Hour, Lead: 12 * time.Minute, Mode: decide.Shadow,
			Target: 4000,
		},
		Autoscalers:      []decide.Autoscaler{advised(4000_000, 1, 50)},
		Baseline:         decide.Baseline{Target: 2800, Min: 2},
		AutoscalerSource: "spec.scaling: 4000 a replica, 1 to 50 replicas; autoscalers are not read without a cluster",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// advised is spec.scaling as the README advises an HPA to be.
func advised(target int64, least, most int32) decide.Autoscaler {
	down := hpa.DefaultScaleDown()
	down.Stabilization = 0
	return decide.Autoscaler{Name: "spec.scaling", HPA: hpa.Spec{
		Min: least, Max: most, Cluster: hpa.DefaultCluster(),
		Metrics:  []hpa.Metric{{Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: target}},
		Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
	}}
}

// A quantile needs no calibration. A cost ratio has no share that may be late, and is calibrated by what reads the value. The period
// of a lateness budget is a week, or two weeks for bad hours, or the history where that is shorter.
func TestPolicy(t *testing.T) {
	const day = 24 * time.Hour
	late := func(over time.Duration) decide.Settings {
		return decide.Settings{Late: 0.01, Wait: 30 * time.Second, Over: over}
	}
	byHours := func(share float64, over time.Duration) decide.Settings {
		return decide.Settings{Late: share, BadHours: true, Wait: 30 * time.Second, Over: over}
	}
	for fields, want := range map[string]decide.Settings{
		`objective: {badHours: "1%"}`:                            byHours(0.01, 14*day),
		`{history: 30d, objective: {badHours: 0.5%, over: 28d}}`: byHours(0.005, 28*day),
		`{history: 10d, objective: {badHours: 2%}}`:              byHours(0.02, 10*day),
		`quantile: "0.9"`:                                        {Quantile: 0.9},
		`{costRatio: "20", scaling: {target: 4}}`:                {CostRatio: 20, Target: 4},
		`{costRatio: ".5", scaling: {target: 4}}`:                {CostRatio: 0.5, Target: 4},
		`costRatio: "1000000"`:                                   {CostRatio: 1e6},
		"history: 30d":                                           byHours(0.01, 14*day),
		"history: 7d":                                            byHours(0.01, 7*day),
		"history: 3d":                                            byHours(0.01, 3*day),
		"history: 1d90m":                                         byHours(0.01, 25*time.Hour),
		`{history: 30d, objective: {late: "1%"}}`:                late(7 * day),
		`{history: 3d, objective: {late: "1%"}}`:                 late(3 * day),
	} {
		want.Lead, want.Mode = 5*time.Minute, decide.Floor
		got := resolve(t, object(t, header+spec(fields)))
		if diff := cmp.Diff(want, got.Settings); diff != "" {
			t.Errorf("%s: %s", fields, diff)
		}
		if known := want.Target > 0 || want.Quantile > 0; known != (got.Uncalibrated == "") ||
			got.Settings.ByHeadroom() != (want.Target > 0) {
			t.Errorf("%s: uncalibrated %q", fields, got.Uncalibrated)
		}
	}
}

// A period of less than a week is short for bad hours, whether it is stated or follows from the history; it is valid all the same.
func TestAShortPeriodForBadHoursIsNoted(t *testing.T) {
	for fields, want := range map[string]string{
		`objective: {badHours: "1%"}`:                 "",
		`objective: {badHours: "1%", over: 7d}`:       "",
		`objective: {badHours: "1%", over: 167h}`:     "the budget's period (over) is 167 hours, which is too short",
		`objective: {badHours: "1%", over: 1d}`:       "a single hour has 4.2% of the demand",
		`{history: 3d, objective: {badHours: "1%"}}`:  "the budget's period (over) is 3 days, which is too short for badHours",
		`objective: {late: "1%", over: 1d}`:           "",
		`quantile: "0.9"`:                             "",
		`{costRatio: "20"}`:                           "",
		`history: 3d`:                                 "the budget's period (over) is 3 days, which is too short for badHours",
		`{history: 3d, objective: {late: "1%"}}`:      "",
		`objective: {badHours: "1%", over: two days}`: "",
	} {
		o := object(t, header+spec(fields))
		if got := manifest.Advice(&o.Spec); want == "" != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q does not say %q", fields, got, want)
		}
		if want != "" && resolve(t, o).Invalid != "" {
			t.Errorf("%s is invalid: %s", fields, resolve(t, o).Invalid)
		}
	}
}

// Specs, each with one thing wrong, and what must be said about it.
func TestFaults(t *testing.T) {
	for _, f := range casetest.Read[struct{ Name, Change, Want string }](t, "faults.yaml") {
		t.Run(f.Name, func(t *testing.T) {
			o := object(t, header+spec(f.Change))
			got, problems := manifest.NewResolver(catalogue{}).Resolve(o)
			if len(problems) != 1 {
				t.Errorf("%d problems, want 1: %v", len(problems), problems)
			}
			if !strings.Contains(got.Invalid, f.Want) {
				t.Errorf("%q does not say %q", got.Invalid, f.Want)
			}
			if got.Key.Name != "llama" || got.Expr != "" || got.Step != 0 {
				t.Errorf("an invalid target carries more than its name: %+v", got)
			}
		})
	}
}

// spec is a good spec with fields replaced.
func spec(change string) string {
	fields := map[string]string{"targetRef": "{kind: Deployment, name: llama}", "signal": "{preset: vllm/inflight}"}
	changed := strings.TrimSuffix(strings.TrimPrefix(change, "{"), "}")
	if !strings.HasPrefix(change, "{") {
		changed = change
	}
	name, _, _ := strings.Cut(changed, ":")
	delete(fields, name)
	out := []string{changed}
	for name, value := range fields {
		out = append(out, name+": "+value)
	}
	return "spec: {" + strings.Join(out, ", ") + "}\n"
}

func TestEveryProblemAtOnce(t *testing.T) {
	o := object(t, `
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: Llama_1, namespace: a.b}
spec:
  targetRef: {kind: Deployment}
  signal: {preset: none}
  quantile: "2"
  step: tomorrow
  serve: Never
  models: [Oracle]
  scaling: {target: -1}
`)
	_, problems := manifest.NewResolver(catalogue{}).Resolve(o)
	var paths []string
	for _, p := range problems {
		paths = append(paths, p.Field)
	}
	want := []string{
		"metadata.name", "metadata.namespace", "spec.targetRef.name", "spec.step", "spec.models[0]", "spec.quantile",
		"spec.serve", "spec.scaling.target", "spec.signal.preset",
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
}

// must ends the test on an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
