package neighbours_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// The namespaces, each with a node of its own whose devices are all taken by a workload and its pool.
const (
	counted  = "counted"  // eight GPUs, of which each pod claims two
	parted   = "parted"   // a GPU that is partitioned as claims ask for it; each pod claims a seventh
	extended = "extended" // eight GPUs that a DeviceClass calls nvidia.com/gpu: the scheduler makes the claims
)

// TestDynamicResources: warm pools of devices that pods claim. The test writes ResourceSlices as a driver does; the rest is
// Kubernetes. The scheduler preempts no pod for the devices that it claimed. So a replica that waits gets what the pool
// gives up.
func TestDynamicResources(t *testing.T) {
	history := map[string][]float64{`inflight{namespace="none"}`: make([]float64, 600)}
	stage := setUpStage(t, "FOREWARM_E2E", clustertest.Options{Bare: true}, time.Now().Add(-10*time.Minute), history)
	s := &karpenterScene{stage: stage, karpenterWatch: stage.watch(t)}
	s.devices(t)
	s.claims(t, counted, 2, claimed{"{deviceClassName: counted.e2e, count: 2}", `"2"`}, "min: 2")
	s.claims(t, parted, 4, claimed{`{deviceClassName: parted.e2e,
        selectors: [{cel: {expression: 'device.attributes["parted.e2e"].profile == "1g"'}}]}`, `"0.143"`}, "min: 3")
	s.MustApply(t, karpenterWorkload(extended, 5, fixedLead, target),
		warmPool(extended, "min: 3", "max: 3", "mode: Enforce"))
	for ns, want := range map[string]struct{ held, replicas int }{counted: {2, 3}, parted: {3, 5}, extended: {3, 6}} {
		s.waitPool(t, ns, "full", func(p v1alpha1.WarmPoolStatus) bool {
			return int(p.Held) == want.held && p.Ready == p.Held
		})
		began := time.Now()
		s.MustKubectl(t, "scale", "deployment/llama", "-n", ns, fmt.Sprintf("--replicas=%d", want.replicas))
		clustertest.MustEventually(t, func() string {
			ready := s.MustKubectl(t, "get", "deployment/llama", "-n", ns, "-o", "jsonpath={.status.readyReplicas}")
			if ready == strconv.Itoa(want.replicas) {
				return ""
			}
			return fmt.Sprintf("%s: %s of %d replicas are ready: %+v", ns, ready, want.replicas, s.status(ns))
		})
		s.log(t, "%s: the new replica is ready after %.0f s", ns, time.Since(began).Seconds())
		s.waitPool(t, ns, "held, but for what it gave up", func(p v1alpha1.WarmPoolStatus) bool {
			return int(p.Held) == want.held && int(p.Ready) == want.held-1
		})
	}
}

// devices applies the nodes, their devices, and the classes by which these are claimed.
func (s *karpenterScene) devices(t *testing.T) {
	t.Helper()
	const takes = "consumesCounters: [{counterSet: gpu-0, counters: {slices: {value: %q}}}]"
	var whole []string
	sevenths := []string{fmt.Sprintf(`{name: gpu-0, attributes: {profile: {string: "7g"}}, `+takes+`}`, "7")}
	for i := range 8 {
		whole = append(whole, fmt.Sprintf("{name: gpu-%d}", i))
		sevenths = append(sevenths,
			fmt.Sprintf(`{name: gpu-0-%d, attributes: {profile: {string: "1g"}}, `+takes+`}`, i, "1"))
	}
	classes := map[string]string{counted: "", parted: "", extended: "extendedResourceName: nvidia.com/gpu"}
	for ns, lines := range classes {
		s.MustApply(t, fmt.Sprintf(`apiVersion: v1
kind: Node
metadata: {name: %[1]s, labels: {%[2]s: %[1]s}}
status: {capacity: {cpu: "64", pods: "110"}, allocatable: {cpu: "64", pods: "110"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: %[1]s.e2e}
spec:
  selectors: [{cel: {expression: 'device.driver == "%[1]s.e2e"'}}]
  %[3]s`, ns, shape, lines))
	}
	slice := func(ns, name string, of int, content string) string {
		return fmt.Sprintf(`apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: %[1]s-%[2]s}
spec: {driver: %[1]s.e2e, nodeName: %[1]s, pool: {name: %[1]s, generation: 1, resourceSliceCount: %[3]d}, %[4]s}`,
			ns, name, of, content)
	}
	s.MustApply(t, slice(counted, "gpus", 1, "devices: ["+strings.Join(whole, ", ")+"]"),
		slice(extended, "gpus", 1, "devices: ["+strings.Join(whole, ", ")+"]"),
		slice(parted, "parts", 2, "devices: ["+strings.Join(sevenths, ", ")+"]"),
		slice(parted, "counters", 2, `sharedCounters: [{name: gpu-0, counters: {slices: {value: "7"}}}]`))
}

// claimed is what each pod claims, and the GPUs that this is worth.
type claimed struct{ request, gpus string }

// claims applies a workload whose pods have a claim each, and its pool.
func (s *karpenterScene) claims(t *testing.T, ns string, replicas int, each claimed, least string) {
	t.Helper()
	const claim = "resourceClaims: [{name: gpus, resourceClaimTemplateName: gpus}]"
	claims := strings.NewReplacer(`limits: {nvidia.com/gpu: "1"}`, "claims: [{name: gpus}]",
		"\n      nodeSelector:", "\n      "+claim+"\n      nodeSelector:", // of the workload
		"\n        nodeSelector:", "\n        "+claim+"\n        nodeSelector:", // of the pool
		"chunk:", "chunk:\n    gpuEquivalent: "+each.gpus)
	s.MustApply(t, claims.Replace(karpenterWorkload(ns, replicas, fixedLead, target)), fmt.Sprintf(`
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpus, namespace: %s}
spec: {spec: {devices: {requests: [{name: gpus, exactly: %s}]}}}`, ns, each.request),
		claims.Replace(warmPool(ns, least, "max: 3", "mode: Enforce")))
}
