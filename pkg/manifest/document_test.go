package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/hack/casetest"
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
	for _, c := range casetest.Read[struct {
		Name, YAML string
		Want       []string
	}](t, "problems.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			if diff := cmp.Diff(c.Want, lines(manifest.Parse("f.yaml", []byte(c.YAML)))); diff != "" {
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
		{"a huge file", strings.Repeat("#\n", manifest.MaxFile), "at most 1048576 are allowed: split the file"},
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
		for _, d := range manifest.RawDocuments("f.yaml", data) { // A search for other kinds meets broken ones, too.
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
