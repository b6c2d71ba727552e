package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// TestPoolSchema shows that the API server refuses by the CRD's schema alone what can be judged alone, with a text that says
// what to write, and takes what is right. The pod of a chunk it does not look into.
func TestPoolSchema(t *testing.T) {
	c := apiservertest.Start(t)
	named := func(name, fields string) string {
		return strings.NewReplacer("h100", name, "inference", "default", "{"+chunkPod+"}", "{"+chunkPod+"}").
			Replace(minimalPool) +
			fields
	}
	instead := func(old, replacement string) string {
		return strings.Replace(named("bad", ""), old, replacement, 1)
	}
	for _, f := range []struct{ name, text, want string }{
		{"no members", instead(poolMembers, "  members: []\n"), "spec.members"},
		{"a member twice", instead("llama}", "llama}, {forecast: llama}"), "Duplicate value"},
		{"a member without a name", instead("llama}", `""}`), "spec.members[0].forecast"},
		{"a member of words", instead("llama}", "llama, chunks: many}"), "spec.members[0].chunks"},
		{"no chunk", instead("  chunk: {"+chunkPod+"}\n", ""), "spec.chunk: Required"},
		{"no pod", instead(chunkPod, ""), "spec.chunk.podTemplate: Required"},
		{"a chunk of no GPU", instead(chunkPod, chunkPod+", gpuEquivalent: 0"), "write a quantity above 0"},
		{"no max", instead("  max: 8\n", ""), "spec.max: Required"},
		{"a max of nothing", instead("max: 8", "max: 0"), "spec.max"},
		{"min above max", named("bad", "  min: 9\n"), "min must not exceed max"},
		{"a fallback above max", named("bad", "  fallback: 9\n"), "fallback must not exceed max"},
		{"a fallback below min", named("bad", "  min: 2\n  fallback: 1\n"), "fallback must not be below min"},
		{"a quantile of 1", named("bad", "  quantile: \"1\"\n"), "spec.quantile"},
		{"a quantile too high", named("bad", "  quantile: \"0.996\"\n"), "write a number from 0.5 to 0.995"},
		{"a quantile too low", named("bad", "  quantile: \".49\"\n"), "write a number from 0.5 to 0.995"},
		{"a budget of nothing", named("bad", "  budget: {idleGPUHoursPerDay: 0}\n"), "write a quantity above 0"},
		{"an empty budget", named("bad", "  budget: {}\n"), "idleGPUHoursPerDay: Required"},
		{"fixed without a duration", named("bad", "  leadTime: {mode: Fixed}\n"), "mode Fixed takes a duration"},
		{"an unknown mode", named("bad", "  mode: Force\n"), `supported values: "Recommend", "Enforce"`},
		{"no actuator", named("bad", "  actuator: {}\n"), "set exactly one of placeholderPods"},
		{"two actuators", named("bad", "  actuator: {placeholderPods: {}, capacityBuffer: {}}\n"), "set exactly one of placeholderPods"},
		{
			"a scale that is split",
			named("bad", "  actuator: {scale: {targetRef: {kind: Deployment, name: x}}}\n  capacityTypes: [{name: a}]\n"),
			"replicas of one kind",
		},
		{"three types", named("bad", "  capacityTypes: [{name: a}, {name: b}, {name: c}]\n"), "spec.capacityTypes"},
		{
			"types that nothing tells apart", named("bad", "  capacityTypes: [{name: a}, {name: b, nodeSelector: {zone: a}}]\n"),
			"of two capacityTypes each needs a nodeSelector",
		},
		{"an unknown field", named("bad", "  size: 3\n"), `unknown field "spec.size"`},
	} {
		t.Run(f.name, func(t *testing.T) {
			output, err := c.Kubectl(t, f.text, "create", "--validate=strict", "-f", "-")
			if err == nil || !strings.Contains(output, f.want) {
				t.Errorf("%v, %q does not say %q", err, output, f.want)
			}
		})
	}
	for i, fields := range []string{
		"",
		"  quantile: \".5\"\n  min: 0\n  fallback: 8\n  mode: Enforce\n",
		"  leadTime: {fallback: 3m}\n  budget: {idleGPUHoursPerDay: \"0.5\"}\n  actuator: {capacityBuffer: {}}\n",
		"  capacityTypes: [{name: a, nodeSelector: {zone: a}}, {name: b, nodeSelector: {zone: b}}]\n",
		"  actuator: {scale: {targetRef: {kind: Deployment, name: x}}}\n",
	} {
		c.MustKubectl(t, named(fmt.Sprintf("good-%d", i), fields), "create", "--validate=strict", "-f", "-")
	}
}
