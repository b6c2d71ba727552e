package pools_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/kube/pools"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Whatever a cluster keeps of a pool, its spec is sound or has a problem, and its memory is refused or can be planned from.
func FuzzReadPool(f *testing.F) {
	for _, text := range []string{
		"metadata: {name: a, namespace: team}\nspec:" + strings.ReplaceAll("\n"+spec, "\n", "\n  "), "spec: 3\n", "metadata: []\n",
		"metadata: {name: a}\nstatus: {held: 3, ready: -1, memory: {plannedAt: '2026-10-01T12:00:00.000000Z', ready: -4}}\n",
		"metadata: {name: a}\nstatus: {memory: {plannedAt: '2026-10-01T12:00:00.000000Z', ready: 4, wants: [{at: null, total: 3}]}}\n",
		"metadata: {name: a}\nstatus: {held: 2147483647, memory: {idleChunkMilliseconds: 9223372036854775807}}\n",
	} {
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		object := &unstructured.Unstructured{}
		if json.Unmarshal(data, &object.Object) != nil || object.Object == nil {
			t.Skip("not an object")
		}
		p := pools.ReadPool(object)
		if r := p.Resolved.Pool; p.Problem == "" &&
			(r.Min < 0 || r.Min > r.Max || r.Max > manifest.MaxPoolChunks || !(r.GPUs > 0)) {
			t.Fatalf("%+v", r)
		}
		if !utf8.ValidString(p.Problem) {
			t.Fatalf("a problem that no status can hold: %q", p.Problem)
		}
		held := p.Status.Memory
		if held == nil {
			return
		}
		memory, err := pools.MemoryIn(held)
		if err != nil {
			if len(err.Error()) > 300 {
				t.Fatal(err)
			}
			return
		}
		capacity := warmpool.Capacity{Held: int(p.Status.Held), Ready: int(p.Status.Ready)}
		plan, next := memory.Plan(noon(), p.Resolved.Pool, nil, capacity)
		if plan.Want < 0 || plan.Want > max(p.Resolved.Pool.Max, 0) || !(plan.Idle >= 0) {
			t.Fatalf("%+v", plan)
		}
		if _, err := pools.MemoryIn(pools.MemoryOf(next)); err != nil {
			t.Fatalf("what follows is no memory: %v", err)
		}
	})
}
