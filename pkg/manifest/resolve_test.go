package manifest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
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
		Key:        snapshot.Key{Namespace: "inference", Name: "llama"},
		Generation: 7,
		Workload:   "Deployment/llama",
		Expr:       `vllm/arrivals{namespace="inference",Deployment="llama"}`,
		Ready:      "ready(Deployment/llama)",
		Unit:       "requests",
		Rate:       true,
		Step:       30 * time.Second,
		History:    14 * 24 * time.Hour,
		Lead:       5 * time.Minute,
		LeadSource: "fallback 5m: pods are not watched without a cluster",
		StaleAfter: 10 * time.Minute,
		Settings: decide.Settings{
			Late: 0.01, Wait: 30 * time.Second, Over: 7 * 24 * time.Hour, Lead: 5 * time.Minute, Mode: decide.Floor,
		},
		AutoscalerSource: "no autoscaler and no spec.scaling; autoscalers are not read without a cluster",
		Uncalibrated: "late 1% is not calibrated, because it is unknown what one replica sustains: let a HorizontalPodAutoscaler or a ScaledObject " +
			"refer to this Forecast, or set spec.scaling.target; until then the 0.95 quantile of the window peak is " +
			"served; autoscalers are not read without a cluster",
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
  scaling: {target: 4k, minReplicas: 0, maxReplicas: 50, before: {target: 2800, minReplicas: 2}}
`)
	got := resolve(t, o)
	want := refresh.Job{
		Key:        snapshot.Key{Namespace: "inference", Name: "llama"},
		Workload:   "StatefulSet/llama",
		Expr:       "sum(rate(x[1m]))@inference",
		Saturated:  "max(queue)@inference",
		Measured:   "late(inference,llama,1m0s) or late(inference,mistral,1m0s)",
		Ready:      "ready(StatefulSet/llama)",
		Step:       15 * time.Second,
		History:    7 * 24 * time.Hour,
		Lead:       12 * time.Minute,
		LeadSource: "fixed 12m",
		Delay:      time.Minute,
		StaleAfter: 12*time.Minute + 75*time.Second + time.Minute,
		Seasons:    []time.Duration{24 * time.Hour, 60 * time.Hour},
		Models:     []string{"holt-winters", "arima"},
		Settings: decide.Settings{
			Late: 0.005, Wait: time.Minute, Over: 7 * 24 * time.Hour, Lead: 12 * time.Minute, Mode: decide.Shadow,
			Target: 4000,
		},
		Autoscalers:      []decide.Autoscaler{advised(4000_000, 1, 50)},
		Before:           decide.Before{Target: 2800, Min: 2},
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
// of a lateness budget is a week, or the history where that is shorter.
func TestPolicy(t *testing.T) {
	const day = 24 * time.Hour
	late := func(over time.Duration) decide.Settings {
		return decide.Settings{Late: 0.01, Wait: 30 * time.Second, Over: over}
	}
	for fields, want := range map[string]decide.Settings{
		`quantile: "0.9"`:                         {Quantile: 0.9},
		`{costRatio: "20", scaling: {target: 4}}`: {CostRatio: 20, Target: 4},
		`{costRatio: ".5", scaling: {target: 4}}`: {CostRatio: 0.5, Target: 4},
		`costRatio: "1000000"`:                    {CostRatio: 1e6},
		"history: 30d":                            late(7 * day), "history: 7d": late(7 * day),
		"history: 3d": late(3 * day), "history: 1d90m": late(25 * time.Hour),
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

// faults are specs, each with one thing wrong, and what must be said about it.
func faults() []struct{ name, change, want string } {
	return []struct{ name, change, want string }{
		{"no kind", "targetRef: {name: a}", "spec.targetRef.kind: Required value"},
		{"no workload's name", "targetRef: {kind: Deployment}", "spec.targetRef.name: Required value"},
		{"a kind of two words", "targetRef: {kind: My Kind, name: a}", "spec.targetRef.kind: Invalid value"},
		{
			"another's source", "signal: {query: x, source: team-b}",
			"spec.signal.source: Invalid value: \"team-b\": source not granted to namespace inference",
		},
		{"no signal", "signal: {}", "set preset (forewarm presets lists them) or query"},
		{"two signals", "signal: {preset: vllm/inflight, query: x}", "keep one"},
		{
			"an unknown preset", "signal: {preset: vllm/in-flight}",
			`preset: Invalid value: unknown preset "vllm/in-flight": did you mean vllm/inflight?`,
		},
		{"a preset that does not fit", "targetRef: {kind: CronJob, name: a}", "a CronJob has no pods that stay"},
		{"a query that does not parse", "signal: {query: 'sum(x}})'}", "1:9: unexpected right brace"},
		{
			"a limit signal that does not parse", "signal: {query: x, saturated: 'max(x}})'}",
			"spec.signal.saturated: Invalid value",
		},
		{"a step that is a number", `step: "30"`, "write for example 30s, 5m"},
		{"a step of half a second", "step: 500ms", "write a duration from 1s to 2h"},
		{"a step between seconds", "step: 1500ms", "write a whole number of seconds"},
		{"a step beyond the window", "step: 7m", "the lead window 6m15s is shorter than the step 7m"},
		{"a history of two minutes", "history: 2m", "write at least 12m30s"},
		{"too many points", "step: 1s", "is 1209600 steps of 1s, more than 120000: write at most 1d9h20m"},
		{"seasons too many", "seasons: [1h, 1d, 2d]", "spec.seasons: Too many: 3: must have at most 2 items"},
		{
			"seasons in the wrong order", "seasons: [1d, 1h]",
			"spec.seasons[1]: Invalid value: \"1h\": write the shorter season first, each once",
		},
		{
			"a season that is no whole number of steps", "seasons: [100s]",
			"spec.seasons[0]: Invalid value: \"100s\": write a whole number of steps of 30s, at least two",
		},
		{
			"a season of one step", "seasons: [30s]",
			"spec.seasons[0]: Invalid value: \"30s\": write a whole number of steps of 30s, at least two",
		},
		{
			"a season that the history does not hold twice", "seasons: [8d]",
			"spec.seasons[0]: Invalid value: \"8d\": the history 2w must hold a season twice: write at most 1w",
		},
		{"a history that overflows", "history: 300y", "spec.history: Invalid value"},
		{"a mode that does not exist", "leadTime: {mode: Guess}", `spec.leadTime.mode: Unsupported value: "Guess"`},
		{"fixed without a duration", "leadTime: {mode: Fixed}", "spec.leadTime.duration: Required value"},
		{
			"fixed with a fallback", "leadTime: {mode: Fixed, duration: 4m, fallback: 3m}",
			"spec.leadTime.fallback: Forbidden",
		},
		{"a duration without a mode", "leadTime: {duration: 4m}", "add mode: Fixed"},
		{"a lead time of a day", "leadTime: {fallback: 1d}", "write a duration from 1s to 2h"},
		{
			"a window of too many steps", "{leadTime: {fallback: 1h}, step: 2s, history: 1d}",
			"is 1837 steps of 2s, more than 1000",
		},
		{"a way to serve that does not exist", "serve: floor", `supported values: "Floor", "Forecast", "Shadow"`},
		{
			"an unknown model", "models: [ARIMA, Prophet]",
			"spec.models[1]: Unsupported value: \"Prophet\": supported values: \"regression\"",
		},
		{"a model twice", "models: [arima, ARIMA]", "spec.models[1]: Duplicate value"},
		{"a quantile of 1", `quantile: "1"`, "write a number from 0.05 to 0.995"},
		{"a quantile that is no number", `quantile: NaN`, "write a number from 0.05 to 0.995"},
		{"a quantile in percent", `quantile: "95%"`, "write a number from 0.05 to 0.995"},
		{"a hexadecimal quantile", `quantile: "0x1p-1"`, "write a number from 0.05 to 0.995"},
		{"a quantile beside an objective", `{quantile: "0.9", objective: {late: 1%}}`, "keep one"},
		{"a cost ratio beside an objective", `{costRatio: "20", objective: {wait: 1m}}`, "keep one"},
		{"a cost ratio beside a quantile", `{costRatio: "20", quantile: "0.9"}`, "spec.costRatio: Forbidden"},
		{"a cost ratio of nothing", `costRatio: "0"`, "write a number above 0, at most 1000000"},
		{"a cost ratio beyond all", `costRatio: "1000000.1"`, "write a number above 0, at most 1000000"},
		{"a cost ratio that is no number", `costRatio: NaN`, "write a number above 0, at most 1000000"},
		{"a negative cost ratio", `costRatio: "-1"`, "write a number above 0, at most 1000000"},
		{"everything late", `objective: {late: "100%"}`, "above 0% and below 100%"},
		{"nothing late", `objective: {late: "0.0%"}`, "above 0% and below 100%"},
		{"late without its sign", `objective: {late: "1"}`, "above 0% and below 100%"},
		{"a wait of nothing", `objective: {wait: 0s}`, "write a duration from 1s to 1h"},
		{"a period of minutes", `objective: {over: 30m}`, "write a duration from 1h to 2w"},
		{"a period of one and a half hours", `objective: {over: 90m}`, "write a whole number of hours"},
		{"a period longer than the history", `{history: 3d, objective: {over: 4d}}`, "write a duration from 1h to 3d"},
		{"a measure of nothing", `objective: {measured: {}}`, "spec.objective.measured: Required value"},
		{"two measures", `objective: {measured: {preset: vllm/queue-time, query: x}}`, "measured: Forbidden"},
		{
			"a demand as a measure", `objective: {measured: {preset: vllm/inflight2}}`,
			"spec.objective.measured.preset: Invalid value",
		},
		{
			"a measure that does not parse", `objective: {measured: {query: 'x}}'}}`,
			"spec.objective.measured.query: Invalid value",
		},
		{"a target of nothing", "scaling: {target: 0}", "a quantity above 0"},
		{"a negative target", `scaling: {target: "-4k"}`, "a quantity above 0"},
		{"a target below a thousandth", `scaling: {target: "100u"}`, "an HPA can hold 0.001 to 9.22e+15"},
		{"a target beyond what an HPA holds", `scaling: {target: 10P}`, "state the demand in another unit"},
		{"a target of nothing before", "scaling: {before: {target: 0}}", "spec.scaling.before.target"},
		{
			"more replicas before than the schema knows", "scaling: {before: {target: 1, minReplicas: 1000001}}",
			"write 1 to 1000000",
		},
		{"fewer at most than at least", "scaling: {target: 1, minReplicas: 3, maxReplicas: 2}", "write at least 3"},
		{"negative replicas", "scaling: {target: 1, minReplicas: -1}", "write 0 to 1000000"},
		{"more replicas than the schema knows", "scaling: {target: 1, maxReplicas: 1000001}", "at most 1000000"},
		{"a source that lags for hours", "signal: {query: x, delay: 1h}", "write a duration from 0s to 30m"},
		{
			"a delay that is longer than stale", "{signal: {query: x, delay: 5m}, staleAfter: 5m}",
			"write a duration from 6m to 1d",
		},
		{"a delay beyond the window", "{signal: {query: x, delay: 30m}, step: 1s, history: 1d}", "write a longer step"},
		{"stale before the next sample", "staleAfter: 40s", "write a duration from 1m to 1d"},
	}
}

func TestFaults(t *testing.T) {
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			o := object(t, header+spec(f.change))
			got, problems := manifest.NewResolver(catalogue{}).Resolve(o)
			if len(problems) != 1 {
				t.Errorf("%d problems, want 1: %v", len(problems), problems)
			}
			if !strings.Contains(got.Invalid, f.want) {
				t.Errorf("%q does not say %q", got.Invalid, f.want)
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
