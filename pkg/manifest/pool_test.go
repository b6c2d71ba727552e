package manifest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/manifest"
)

const (
	poolHeader = "apiVersion: forewarm.dev/v1alpha1\nkind: WarmPool\nmetadata: {name: h100, namespace: inference}\nspec:\n"
	// chunkPod is that of a chunk with a GPU, asked for as people do: by a limit.
	chunkPod    = `podTemplate: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: "1"}}}]}}`
	poolMembers = "  members: [{forecast: llama}]\n"
	minimalPool = poolHeader + poolMembers + "  chunk: {" + chunkPod + "}\n  max: 8\n"
)

// poolOf is a pool whose chunk asks for resources, with further fields of the chunk.
func poolOf(resources, further string) string {
	return poolHeader + poolMembers + "  chunk: {podTemplate: {spec: {containers: [{name: c, resources: {requests: {" + resources +
		"}}}]}}" + further + "}\n  max: 8\n"
}

// onePool is the one pool of a text.
func onePool(t *testing.T, text string) manifest.ResolvedPool {
	t.Helper()
	all, err := manifest.ReadPools("pool.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 {
		t.Fatalf("%d pools", len(all))
	}
	return all[0]
}

func TestPoolDefaults(t *testing.T) {
	got := onePool(t, minimalPool)
	want := warmpool.Pool{Quantile: 0.975, Max: 8, GPUs: 1, Node: 5 * time.Minute}
	if diff := cmp.Diff(want, got.Pool); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]manifest.PoolMember{{Forecast: "llama", Chunks: 1}}, got.Members); diff != "" {
		t.Error(diff)
	}
	pods := got.Object.Spec.Actuator.PlaceholderPods
	if got.Actuator != manifest.ActuatorPlaceholderPods || pods.PriorityClassName != "forewarm-placeholder" ||
		pods.Image == "" ||
		!got.MeasureLeadTime ||
		got.Object.Spec.Mode != "Recommend" {
		t.Errorf("%+v", got.Object.Spec)
	}
}

func TestEveryFieldOfAPool(t *testing.T) {
	got := onePool(t, poolHeader+`  members: [{forecast: llama, chunks: 4}, {forecast: qwen, chunks: "0.5"}]
  chunk: {`+chunkPod+`, gpuEquivalent: "0.25"}
  quantile: "0.9"
  leadTime: {mode: Fixed, duration: 4m}
  min: 1
  max: 40
  fallback: 3
  budget: {idleGPUHoursPerDay: 60}
  capacityTypes:
  - {name: on-demand, nodeSelector: {karpenter.sh/capacity-type: on-demand}}
  - {name: spot, nodeSelector: {karpenter.sh/capacity-type: spot}}
  actuator: {capacityBuffer: {}}
  mode: Enforce
`)
	want := warmpool.Pool{
		Quantile: 0.9, Min: 1, Max: 40, Fallback: 3, GPUs: 0.25, Budget: 60, Split: true, Node: 4 * time.Minute,
	}
	if diff := cmp.Diff(want, got.Pool); diff != "" {
		t.Error(diff)
	}
	if got.Members[0].Chunks != 4 || got.Members[1].Chunks != 0.5 || got.MeasureLeadTime ||
		got.Actuator != manifest.ActuatorCapacityBuffer {
		t.Errorf("%+v", got)
	}
}

func TestTheGPUsOfAChunk(t *testing.T) {
	for _, c := range []struct {
		about, text string
		want        float64
	}{
		{"all containers together", poolHeader + poolMembers + `  chunk:
    podTemplate:
      spec:
        containers: [{name: a, resources: {limits: {nvidia.com/gpu: 4}}}, {name: b, resources: {limits: {nvidia.com/gpu: 4}}}]
  max: 1
`, 8},
		{"an init container is there before them", poolHeader + poolMembers + `  chunk:
    podTemplate:
      spec:
        initContainers: [{name: i, resources: {limits: {nvidia.com/gpu: 2}}}]
        containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]
  max: 1
`, 2},
		{"a MIG instance, as its author says", poolOf("nvidia.com/mig-1g.10gb: 1", `, gpuEquivalent: "0.143"`), 0.143},
		{
			"shares by HAMi, as their author says",
			poolOf("nvidia.com/gpu: 2, nvidia.com/gpumem-percentage: 25", `, gpuEquivalent: "0.5"`), 0.5,
		},
		{"another make, as its author says", poolOf("amd.com/gpu: 8", ", gpuEquivalent: 8"), 8},
	} {
		if got := onePool(t, c.text).Pool.GPUs; got != c.want {
			t.Errorf("%s: %g GPUs, want %g", c.about, got, c.want)
		}
	}
}

// changedPool is the minimal pool with a text replaced and fields appended, or another text, and what is said about it.
type changedPool struct {
	Name, Append, Want string
	Text               *string
	Replace            []string
}

func (c changedPool) text() string {
	text := minimalPool
	if c.Text != nil {
		text = *c.Text
	}
	if len(c.Replace) == 2 {
		text = strings.Replace(text, c.Replace[0], c.Replace[1], 1)
	}
	if c.Append == "" {
		return text
	}
	return text + "  " + strings.ReplaceAll(strings.TrimSuffix(c.Append, "\n"), "\n", "\n  ") + "\n"
}

func TestPoolProblems(t *testing.T) {
	for _, c := range casetest.Read[changedPool](t, "pools.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			if _, err := manifest.ReadPools("pool.yaml", []byte(c.text())); err == nil ||
				!strings.Contains(err.Error(), c.Want) {
				t.Errorf("%v does not say %q", err, c.Want)
			}
		})
	}
}

// TestEveryPoolProblemAtOnce: those of the text, those of the object, and those of other documents.
func TestEveryPoolProblemAtOnce(t *testing.T) {
	text := minimalPool + "  min: 9\n  quantile: 0.95\n  sise: 1\n---\n" + strings.Replace(minimalPool, "max: 8",
		"max: 0", 1)
	_, err := manifest.ReadPools("pool.yaml", []byte(text))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"pool.yaml:8: spec.min", "pool.yaml:9: spec.quantile: is not text", "pool.yaml:10: spec.sise", "pool.yaml:18: spec.max",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 4 {
		t.Errorf("%d problems:\n%v", n, err)
	}
}
