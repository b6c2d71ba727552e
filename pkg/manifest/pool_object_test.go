package manifest_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/manifest"
)

// stored is a pool as an API server hands it out.
func stored(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	must(t, yaml.Unmarshal([]byte(text), &object))
	return object
}

func TestPoolFromObject(t *testing.T) {
	object := stored(t, minimalPool+`status: {wanted: 3}
`)
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		t.Fatal("no metadata")
	}
	metadata["uid"], metadata["generation"] = "u", int64(4)
	metadata["creationTimestamp"] = "2026-10-01T12:00:00Z"
	metadata["managedFields"] = []any{
		map[string]any{"manager": "kubectl", "fieldsV1": map[string]any{"f:spec": map[string]any{}}},
	}
	got, err := manifest.PoolFromObject(object)
	if err != nil {
		t.Fatal(err)
	}
	if got.UID != "u" || got.Generation != 4 || got.Name != "h100" || got.CreationTimestamp.IsZero() ||
		got.ManagedFields != nil || got.Status.Wanted != 0 || got.Spec.Max != 8 {
		t.Errorf("%+v", got)
	}
	if _, problems := manifest.ResolvePool(got); len(problems) > 0 {
		t.Error(manifest.JoinProblems(problems))
	}
}

// TestWhatTheSchemaLetsThrough: the API server takes any pod of a chunk, and stores what older schemas took.
func TestWhatTheSchemaLetsThrough(t *testing.T) {
	for _, c := range []struct{ about, text, want string }{
		{"a typo in the pod", strings.Replace(minimalPool, "limits", "limit", 1), "resources.limit: unknown field"},
		{"a quantity that takes seconds", poolOf(`nvidia.com/gpu: "1e-30000000"`, ""), "is not a quantity"},
		{"a list for a map", strings.Replace(minimalPool, "chunk: {"+chunkPod+"}", "chunk: []", 1), "spec.chunk: is a list"},
		{"no spec that is one", "metadata: {name: a}\nspec: 3\n", "spec: is a single value"},
		{"no metadata", "spec: {}\n", "it has no metadata"},
		{"metadata of another type", "metadata: {name: [a]}\n", "read its metadata"},
	} {
		if _, err := manifest.PoolFromObject(stored(t, c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v does not say %q", c.about, err, c.want)
		}
	}
}

// soundPool fails where a pool that has no problems is none that can be planned for.
func soundPool(t *testing.T, r *manifest.ResolvedPool) {
	t.Helper()
	p := r.Pool
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	if p.Min < 0 || p.Min > p.Fallback || p.Fallback > p.Max || p.Max > manifest.MaxPoolChunks {
		t.Fatalf("bounds of %+v", p)
	}
	if !(p.GPUs > 0) || !finite(p.GPUs) || p.Budget < 0 || !finite(p.Budget) {
		t.Fatalf("GPUs of %+v", p)
	}
	if p.Quantile < 0.5 || p.Quantile > 0.995 || p.Node <= 0 {
		t.Fatalf("%+v", p)
	}
	if len(r.Members) == 0 || len(r.Members) > manifest.MaxPoolMembers || r.Actuator == "" {
		t.Fatalf("%+v", r)
	}
	for _, m := range r.Members {
		if m.Forecast == "" || !(m.Chunks > 0) || !finite(m.Chunks) {
			t.Fatalf("%+v", m)
		}
	}
}

func FuzzReadPools(f *testing.F) {
	for _, text := range []string{
		minimalPool, poolOf("nvidia.com/mig-1g.10gb: 1", `, gpuEquivalent: "0.143"`), minimalPool + "---\n" + minimalPool,
		minimalPool + "  min: -1\n  fallback: 9999999999\n  quantile: \"1e-1\"\n  budget: {idleGPUHoursPerDay: 1e99}\n",
		"a: &a [*a]\n", poolOf("cpu: 1e-30000000", ", gpuEquivalent: .nan"),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := manifest.ReadPools("pool.yaml", text)
		if err != nil {
			return
		}
		for i := range all {
			soundPool(t, &all[i])
		}
	})
}

func FuzzPoolFromObject(f *testing.F) {
	for _, text := range []string{minimalPool, poolOf("cpu: 1", `, gpuEquivalent: "1"`), "metadata: {}\nspec: {max: 1e3}\n"} {
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var object map[string]any
		if json.Unmarshal(data, &object) != nil {
			t.Skip("not an object")
		}
		decoded, err := manifest.PoolFromObject(object)
		if err != nil {
			return
		}
		if r, problems := manifest.ResolvePool(decoded); len(problems) == 0 {
			soundPool(t, &r)
		}
	})
}
