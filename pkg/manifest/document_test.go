package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
)

const small = "spec: {targetRef: {kind: Deployment, name: llama}, signal: {preset: vllm/inflight}}\n"

// lines are the problems of all documents.
func lines(documents []manifest.Document) []string {
	var out []string
	for _, d := range documents {
		for _, p := range d.Problems {
			out = append(out, p.String())
		}
	}
	return out
}

func TestParseProblems(t *testing.T) {
	for _, c := range []struct {
		name, yaml string
		want       []string
	}{
		{"a good one has none", header + small, nil},
		{
			"an unknown field lists the known ones", header + "spec:\n  signal: {presett: x}\n",
			[]string{"f.yaml:5: spec.signal.presett: unknown field, known are delay, preset, query, saturated, source"},
		},
		{
			"case counts", header + "Spec: {}\n",
			[]string{"f.yaml:4: Spec: unknown field, known are apiVersion, kind, metadata, spec, status"},
		},
		{
			"a field twice names both lines", header + "spec:\n  step: 30s\n  serve: Floor\n  step: 15s\n",
			[]string{"f.yaml:7: spec.step: is given twice, first in line 5: keep one"},
		},
		{
			"a field twice in JSON", `{"apiVersion": "forewarm.dev/v1alpha1", "kind": "Forecast",` +
				"\n" + `"metadata": {"name": "a", "name": "b"}, "spec": {}}`,
			[]string{"f.yaml:2: metadata.name: is given twice, first in line 2: keep one"},
		},
		{
			"all at once", header + "spec:\n  quantile: 0.95\n  stepp: 30s\n  scaling: {minReplicas: \"1\"}\n  models: arima\n",
			[]string{
				`f.yaml:5: spec.quantile: is not text: put it in quotes, "0.95"`,
				"f.yaml:6: spec.stepp: unknown field, known are costRatio, expose, formerNames, history, leadTime, models, objective, quantile, scaling, seasons, " +
					"serve, signal, staleAfter, step, targetRef",
				`f.yaml:7: spec.scaling.minReplicas: "1" is not a whole number: write one, without quotes`,
				"f.yaml:8: spec.models: is a single value: write a list",
			},
		},
		{
			"the line counts from the file's beginning", header + small + "---\n" + header + "specs: {}\n",
			[]string{"f.yaml:9: specs: unknown field, known are apiVersion, kind, metadata, spec, status"},
		},
		{
			"broken YAML costs its document only", header + small + "---\nspec: [\n---\n" + header + "x: 1\n",
			[]string{
				"f.yaml:6: is not YAML: did not find expected node content",
				"f.yaml:11: x: unknown field, known are apiVersion, kind, metadata, spec, status",
			},
		},
		{
			"another kind", "apiVersion: apps/v1\nkind: Deployment\n",
			[]string{`f.yaml:1: apiVersion "apps/v1", kind "Deployment" is not supported here: write apiVersion: ` +
				"forewarm.dev/v1alpha1, kind: Forecast"},
		},
		{
			"a list of objects", "apiVersion: v1\nkind: List\nitems: []\n",
			[]string{"f.yaml:1: kind List is not supported here: write one document for each Forecast, separated by ---"},
		},
		{
			"not an object", "- 1\n- 2\n",
			[]string{"f.yaml:1: is not an object: write apiVersion, kind, metadata and spec"},
		},
		{
			"a quantity that is none", header + "spec: {scaling: {target: lots}}\n",
			[]string{`f.yaml:4: spec.scaling.target: "lots" is not a quantity, write for example 64, 0.5 or 4k`},
		},
		{
			"a quantity of thirty million digits", header + "spec: {scaling: {target: \"1e-30000000\"}}\n",
			[]string{`f.yaml:4: spec.scaling.target: "1e-30000000" is not a quantity, write for example 64, 0.5 or 4k`},
		},
		{
			"a quantity before of thirty million digits", header + "spec: {scaling: {before: {target: \"1e-30000000\"}}}\n",
			[]string{`f.yaml:4: spec.scaling.before.target: "1e-30000000" is not a quantity, write for example 64, 0.5 or 4k`},
		},
		{
			"a number as a key", header + "1: 2\n",
			[]string{"f.yaml:4: 1: is not a field's name: names are text, without aliases and merges"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lines(manifest.Parse("f.yaml", []byte(c.yaml)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseDocuments(t *testing.T) {
	text := "%YAML 1.2\n--- # first\n" + header + small + "...\n# nothing\n---\n---\r\n" +
		strings.ReplaceAll("apiVersion: forewarm.dev/v1alpha1\nkind: Forecast\nmetadata: {name: b}\n"+small, "\n",
			"\r\n")
	documents := manifest.Parse("f.yaml", []byte(text))
	var keys []snapshot.Key
	for _, d := range documents {
		if d.Object == nil {
			t.Fatal(lines(documents))
		}
		keys = append(keys, d.Key, snapshot.Key{Namespace: d.Object.Namespace, Name: d.Object.Name})
	}
	want := []snapshot.Key{
		{Namespace: "inference", Name: "llama"},
		{Namespace: "inference", Name: "llama"},
		{Namespace: "default", Name: "b"},
		{Namespace: "default", Name: "b"},
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
}

func TestParseLimits(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
		"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
	for _, c := range []struct{ name, yaml, want string }{
		{"a huge file", strings.Repeat("#\n", manifest.MaxFile), "more than 1048576: split the file"},
		{"a huge document", strings.Repeat("#\n", manifest.MaxDocument), "more than 65536"},
		{"many documents", strings.Repeat("---\na\n", manifest.MaxDocuments+1), "more than 1000 documents: split the file"},
		{"aliases of aliases", header + bomb + "spec: {models: *e}\n", "unknown field"},
		{
			"models that are aliases of aliases",
			header + "metadata: {labels: &a {x: y}}\nspec: {models: [" + strings.Repeat("[", 900) + strings.Repeat("]", 900) + "]}",
			"write a single value",
		},
		{"an alias of itself", header + "spec: {models: &m [*m]}\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(lines(manifest.Parse("f.yaml", []byte(c.yaml))), "\n")
			if got == "" || !strings.Contains(got, c.want) {
				t.Errorf("%.300q does not say %q", got, c.want)
			}
		})
	}
}

func TestLocate(t *testing.T) {
	d := manifest.Parse("f.yaml", []byte("\n"+header+`spec:
  targetRef: {kind: Deployment}
  signal: {query: x}
  models:
  - arima
  - oracle
`))[0]
	_, problems := manifest.NewResolver(catalogue{}).Resolve(d.Object)
	var got []int
	for _, p := range d.Locate(problems) {
		got = append(got, p.Line)
	}
	// spec.targetRef.name is not written: the line is that of spec.targetRef.
	if diff := cmp.Diff([]int{6, 10}, got); diff != "" {
		t.Error(diff, problems)
	}
}

// FuzzParse feeds hostile files: whatever comes, each document is an object or has a problem, and resolving it does not
// panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte(header + small))
	f.Add([]byte(header + "spec: {models: &m [*m]}\n--- {}\n...\n- a: b"))
	f.Add([]byte(header + "spec: {<<: {step: 1s}, scaling: {target: 1e999}}"))
	f.Add(
		[]byte(
			`{"apiVersion": "forewarm.dev/v1alpha1", "kind": "Forecast", "metadata": {"name": .nan, "labels": {"a": 1}}}`,
		),
	)
	f.Add([]byte("a: *" + strings.Repeat("x", 2000) + "\n"))
	f.Add([]byte(header + "status: {sampleTime: 2026-01-01, conditions: [{lastTransitionTime: x}]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range manifest.RawDocuments("f.yaml", data) { // Whoever looks for other kinds meets broken ones, too.
			d.Text("metadata", "name")
		}
		for _, d := range manifest.Parse("f.yaml", data) {
			for _, p := range d.Problems {
				if text := p.Err().Error(); len(text) > 1200 {
					t.Fatalf("%d bytes: %.1200q…", len(text), text)
				}
			}
			if (d.Object == nil) == (len(d.Problems) == 0) {
				t.Fatalf("object %v, problems %v", d.Object, d.Problems)
			}
			if d.Object != nil {
				target, problems := manifest.NewResolver(catalogue{}).Resolve(d.Object)
				if (target.Invalid != "") != (len(problems) > 0) || target.Key != d.Key {
					t.Fatalf("target %+v, problems %v, key %v", target, problems, d.Key)
				}
				d.Locate(problems)
			}
		}
	})
}
