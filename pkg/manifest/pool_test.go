package manifest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	return all[0].ResolvedPool
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
		{"another make, as its author says", poolOf("amd.com/gpu: 8", ", gpuEquivalent: 8"), 8},
	} {
		if got := onePool(t, c.text).Pool.GPUs; got != c.want {
			t.Errorf("%s: %g GPUs, want %g", c.about, got, c.want)
		}
	}
}

func TestPoolProblems(t *testing.T) {
	with := func(fields string) string { return minimalPool + fields }
	for _, c := range []struct{ about, text, want string }{
		{"nothing", "", "pool.yaml: no WarmPool (forewarm.dev/v1alpha1): it is empty"},
		{"another kind", "kind: Forecast\n", "it holds Forecast"},
		{"another version", strings.Replace(minimalPool, "v1alpha1", "v1", 1), "pool.yaml:1: apiVersion \"forewarm.dev/v1\" is not"},
		{"a list", "kind: WarmPoolList\n", "write a document for each"},
		{"no object", "[1]", "pool.yaml:1: is not an object"},
		{"no YAML", "{", "pool.yaml:1: is not YAML"},
		{"no name", strings.Replace(minimalPool, "name: h100, ", "", 1), "pool.yaml:3: metadata.name: Required"},
		{"an unknown field", with("  size: 3\n"), "pool.yaml:8: spec.size: unknown field"},
		{"no members", strings.Replace(minimalPool, poolMembers, "", 1), "spec.members: Required"},
		{"a member twice", strings.Replace(minimalPool, "llama}", "llama}, {forecast: llama}", 1), "members[1].forecast: Duplicate"},
		{"a member without chunks", strings.Replace(minimalPool, "llama}", "llama, chunks: 0}", 1), "write a quantity from 0.001"},
		{"a member of millions of digits", strings.Replace(minimalPool, "llama}", "llama, chunks: 1e-30000000}", 1), "is not a quantity"},
		{"a quantile of 1", with(`  quantile: "1"` + "\n"), "pool.yaml:8: spec.quantile: Invalid value: \"1\": write a number from 0.5 to 0.995"},
		{"a quantile below the median", with(`  quantile: "0.4"` + "\n"), "write a number from 0.5"},
		{"a hexadecimal quantile", with(`  quantile: "0x1p-1"` + "\n"), "write a number from 0.5"},
		{"min above max", with("  min: 9\n"), "pool.yaml:8: spec.min: Invalid value: 9: write 0 to max, which is 8"},
		{"no max", strings.Replace(minimalPool, "  max: 8\n", "", 1), "spec.max: Invalid value: 0"},
		{"a fallback below min", with("  min: 2\n  fallback: 1\n"), "pool.yaml:9: spec.fallback: Invalid value: 1: write a number from"},
		{"a budget of nothing", with("  budget: {idleGPUHoursPerDay: 0}\n"), "write a quantity above 0"},
		{"a lead time of three hours", with("  leadTime: {fallback: 3h}\n"), "write a duration from 1s to 2h"},
		{"fixed without a duration", with("  leadTime: {mode: Fixed}\n"), "spec.leadTime.duration: Required"},
		{"fixed with a fallback", with("  leadTime: {mode: Fixed, duration: 1m, fallback: 1m}\n"), "is for mode Auto"},
		{"a duration in Auto", with("  leadTime: {duration: 1m}\n"), "is for mode Fixed"},
		{"an unknown mode", with("  mode: Force\n"), "supported values: \"Recommend\", \"Enforce\""},
		{"no containers", poolHeader + poolMembers + "  chunk: {podTemplate: {}}\n  max: 1\n", "containers: Required"},
		{"a pod that asks for nothing", poolOf("", ""), "a pod without requests holds nothing"},
		{"a resource with a typo", strings.Replace(minimalPool, "limits", "limit", 1), "resources.limit: unknown field, known are claims, limits"},
		{"half a GPU", poolOf("nvidia.com/gpu: 500m", ""), "in whole numbers only"},
		{"a GPU of millions of digits", poolOf("nvidia.com/gpu: 1e-30000000", ""), "is not a quantity"},
		{"no GPU", poolOf("cpu: 1", ""), "requests no nvidia.com/gpu"},
		{"a MIG instance", poolOf("nvidia.com/mig-1g.10gb: 1", ""), "nvidia.com/mig-1g.10gb is a part of one"},
		{"a share", poolOf("nvidia.com/gpu.shared: 1", ""), "nvidia.com/gpu.shared is a part of one"},
		{"a chunk of no GPU", poolOf("cpu: 1", ", gpuEquivalent: 0"), "gpuEquivalent: Invalid"},
		{"a node", strings.Replace(minimalPool, "spec: {c", "spec: {nodeName: n, c", 1), "write a nodeSelector instead"},
		{"no actuator", with("  actuator: {}\n"), "set exactly one of placeholderPods"},
		{"two actuators", with("  actuator: {placeholderPods: {}, capacityBuffer: {}}\n"), "set exactly one of placeholderPods"},
		{"a scale of nothing", with("  actuator: {scale: {targetRef: {}}}\n"), "targetRef.name: Required"},
		{"a scale that is split", with("  actuator: {scale: {targetRef: {kind: Deployment, name: x}}}\n  capacityTypes: [{name: a}]\n"), "are of one kind"},
		{"one type twice", with("  capacityTypes: [{name: a, nodeSelector: {zone: a}}, {name: a, nodeSelector: {zone: a}}]\n"), "capacityTypes[1].name: Duplicate"},
		{"types that nothing tells apart", with("  capacityTypes: [{name: a, nodeSelector: {zone: a}}, {name: b}]\n"), "capacityTypes[1].nodeSelector: Required"},
		{"three types", with("  capacityTypes: [{name: a}, {name: b}, {name: c}]\n"), "must have at most 2 items"},
		{"a selector that is none", with("  capacityTypes: [{name: a, nodeSelector: {\"a b\": c}}]\n"), "capacityTypes[0].nodeSelector: Invalid"},
		{
			"a selector that contradicts the pod's",
			strings.Replace(minimalPool, "spec: {c", "spec: {nodeSelector: {zone: a}, c", 1) + "  capacityTypes: [{name: a, nodeSelector: {zone: b}}]\n",
			"the pod template has a for the same key: no node has both",
		},
		{"an image twice", with("  actuator: {placeholderPods: {prePullImages: [a, a]}}\n"), "prePullImages[1]: Duplicate"},
		{"an empty image", with("  actuator: {placeholderPods: {prePullImages: [\"\"]}}\n"), "prePullImages[0]: Invalid"},
		{"a priority class that is none", with("  actuator: {placeholderPods: {priorityClassName: A B}}\n"), "priorityClassName: Invalid"},
	} {
		t.Run(c.about, func(t *testing.T) {
			if _, err := manifest.ReadPools("pool.yaml", []byte(c.text)); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v does not say %q", err, c.want)
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
