package manifest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/manifest"
)

const minimalFleet = `apiVersion: forewarm.dev/v1alpha1
kind: GPUFleet
metadata: {name: h100, namespace: inference}
spec:
  gpus: {count: 64}
  members: [{forecast: chat}]
  batch: [{name: embeddings, selector: {matchLabels: {app: embeddings}}, run: 20m}]
`

func TestDefaultsOfAFleet(t *testing.T) {
	all, err := manifest.ReadFleets("fleet.yaml", []byte(minimalFleet))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d fleets, %v", len(all), err)
	}
	got := all[0]
	if got.Resource != "nvidia.com/gpu" || got.Nodes != nil || got.Object.Spec.GPUs.Count != 64 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]manifest.FleetMember{{Forecast: "chat", GPUs: 1}}, got.Members); diff != "" {
		t.Error(diff)
	}
	want := fleet.Consumer{Name: "embeddings", GPUs: 1, Share: 1, Run: 20 * time.Minute}
	if diff := cmp.Diff(want, got.Batch[0].Consumer); diff != "" || got.Batch[0].Selector.String() != "app=embeddings" {
		t.Errorf("%s, selector %s", diff, got.Batch[0].Selector)
	}
}

func TestEveryFieldOfAFleet(t *testing.T) {
	text := strings.NewReplacer(
		"{count: 64}", "{nodeSelector: {gpu: h100, pool: a}}\n  resource: amd.com/gpu",
		"{forecast: chat}", `{forecast: chat, gpus: "0.5"}, {forecast: code, gpus: 8}`,
		"run: 20m", `run: 1h30m, gpus: 2, share: 3}, `+
			`{name: eval, selector: {matchExpressions: [{key: job, operator: Exists}]}, run: 1d`,
	).Replace(minimalFleet)
	all, err := manifest.ReadFleets("fleet.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := all[0]
	if got.Resource != "amd.com/gpu" || got.Nodes.String() != "gpu=h100,pool=a" {
		t.Errorf("resource %s, nodes %s", got.Resource, got.Nodes)
	}
	if diff := cmp.Diff([]manifest.FleetMember{{"chat", 0.5}, {"code", 8}}, got.Members); diff != "" {
		t.Error(diff)
	}
	want := []fleet.Consumer{
		{Name: "embeddings", GPUs: 2, Share: 3, Run: 90 * time.Minute},
		{Name: "eval", GPUs: 1, Share: 1, Run: 24 * time.Hour},
	}
	for i, c := range want {
		if diff := cmp.Diff(c, got.Batch[i].Consumer); diff != "" {
			t.Error(diff)
		}
	}
}

// Each problem says where it is and what to write.
func TestProblemsOfAFleet(t *testing.T) {
	const consumer = "{name: embeddings, selector: {matchLabels: {app: embeddings}}, run: 20m}"
	tests := map[string]struct{ old, new, want string }{
		"no GPUs":              {"{count: 64}", "{}", "write one of count (at least 1), nodeSelector and clusterQueue"},
		"zero GPUs":            {"count: 64", "count: 0", "write one of count (at least 1)"},
		"negative GPUs":        {"count: 64", "count: -1", "Invalid value: -1: write the number of GPUs, 1 to 1000000"},
		"too many GPUs":        {"count: 64", "count: 1000001", "1 to 1000000"},
		"two sources":          {"count: 64", "count: 64, nodeSelector: {a: b}", `value: "count, nodeSelector": write`},
		"three sources":        {"64", "1, nodeSelector: {a: b}, clusterQueue: {name: q}", `Selector, clusterQueue"`},
		"an empty selector":    {"count: 64", "nodeSelector: {}", "gpus.nodeSelector: Required value: write the"},
		"a bad label":          {"count: 64", "nodeSelector: {a b: c}", "spec.gpus.nodeSelector"},
		"a queue without name": {"count: 64", "clusterQueue: {}", "write the name of a ClusterQueue"},
		"another resource":     {"{count: 64}", "{count: 64}\n  resource: cpu", "the name of an extended resource"},
		"a bad resource":       {"{count: 64}", "{count: 64}\n  resource: 'a/b/c'", "spec.resource"},
		"no members":           {"[{forecast: chat}]", "[]", "spec.members: Required"},
		"a member twice":       {"{forecast: chat}", "{forecast: a}, {forecast: a}", "members[1].forecast: Duplicate"},
		"no forecast":          {"{forecast: chat}", "{gpus: 1}", "write the name of a Forecast"},
		"no GPUs of a member":  {"{forecast: chat}", "{forecast: chat, gpus: 0}", "a quantity from 0.001 to 1000"},
		"too many members":     {"{forecast: chat}", strings.Repeat("{forecast: a},", 51), "must have at most 50"},
		"no batch":             {consumer, "", "spec.batch: Required"},
		"a nameless consumer":  {"name: embeddings, ", "", "spec.batch[0].name: Required"},
		"a bad name":           {"name: embeddings", "name: A_b", "spec.batch[0].name"},
		"a consumer twice":     {consumer, consumer + ", " + consumer, "spec.batch[1].name: Duplicate"},
		"the same pods twice":  {consumer, consumer + ", " + consumer, "another consumer has the same selector"},
		"every pod":            {"{matchLabels: {app: embeddings}}", "{}", "an empty selector would count every pod"},
		"a bad expression": {
			"{matchLabels: {app: embeddings}}", "{matchExpressions: [{key: a, operator: Is}]}", "batch[0].selector",
		},
		"a negative share":   {"run: 20m", "run: 20m, share: -1", "write a weight from 1 to 1000"},
		"a large share":      {"run: 20m", "run: 20m, share: 1001", "write a weight from 1 to 1000"},
		"GPUs out of range":  {"run: 20m", "run: 20m, gpus: 1001", "write a quantity from 0.001 to 1000"},
		"no run":             {", run: 20m", "", "spec.batch[0].run: Required value: write how long"},
		"a run without unit": {"run: 20m", "run: 20", `spec.batch[0].run: "20" has no unit: write for example 30s`},
		"a long run":         {"run: 20m", "run: 25h", "write a duration from 1m to 1d"},
		"a short run":        {"run: 20m", "run: 59s", "write a duration from 1m to 1d"},
		"an unknown field":   {"run:", "runs:", "unknown field, the known fields are gpus, name, run, selector, share"},
		"another version":    {"v1alpha1", "v1", "write apiVersion: forewarm.dev/v1alpha1"},
		"a nameless fleet":   {"name: h100, ", "", "metadata.name: Required"},
		"text for a number":  {"count: 64", `count: "64"`, "is not a whole number"},
		"nothing of a fleet": {"GPUFleet", "WarmPool", "no GPUFleet (forewarm.dev/v1alpha1): it holds WarmPool"},
	}
	for name, tt := range tests {
		text := strings.Replace(minimalFleet, tt.old, tt.new, 1)
		_, err := manifest.ReadFleets("fleet.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "fleet.yaml:") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestEveryProblemOfAFleetIsListed(t *testing.T) {
	text := strings.NewReplacer("count: 64", "count: -1", "chat", "", "20m", "25h").Replace(minimalFleet)
	_, err := manifest.ReadFleets("fleet.yaml", []byte(text))
	if n := len(strings.Split(fmt.Sprint(err), "\n")); n != 3 {
		t.Errorf("%d problems, want 3: %v", n, err)
	}
}

func TestFleetFromObject(t *testing.T) {
	object := stored(t, minimalFleet+"status: {message: old}\n")
	got, err := manifest.FleetFromObject(object)
	if err != nil || got.Name != "h100" || got.Namespace != "inference" || got.Status.Message != "" ||
		got.Spec.GPUs.Count != 64 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := manifest.FleetFromObject(stored(t, strings.Replace(minimalFleet, "run:", "runs:", 1))); err == nil {
		t.Error("an unknown field is accepted")
	}
}
