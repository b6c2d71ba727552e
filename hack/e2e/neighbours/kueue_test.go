package neighbours_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// The namespaces of Kueue's test, each with a pool of four chunks of eight GPUs.
const (
	queued = "queued" // placeholders in a queue of two chunks
	free   = "free"   // placeholders of no queue
)

// queues: a quota of GPUs, in which pods of higher priority preempt those of lower.
const queues = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: gpus}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: gpus}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: gpus, resources: [{name: nvidia.com/gpu, nominalQuota: "16"}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: gpus, namespace: queued}
spec: {clusterQueue: gpus}`

// kueue is a stage with Kueue.
type kueue struct {
	*stage
	*karpenterWatch
}

// TestKueue: placeholders next to the real Kueue are in its quota where they name a queue, and outside where they do not.
func TestKueue(t *testing.T) {
	from := time.Now().Add(-15 * time.Minute)
	s := &kueue{stage: setUpStage(t, "FOREWARM_KUEUE", clustertest.Options{}, from, steady(queued, free))}
	if err := s.StartKueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.karpenterWatch = s.watch(t)
	for _, ns := range []string{queued, free} {
		s.MustApply(t, karpenterWorkload(ns, 0, fixedLead, target))
	}
	s.MustApply(t, queues)
	s.MustApply(t, s.pool(free, ""), s.pool(queued, ", kueue.x-k8s.io/queue-name: gpus"))
	s.waitPool(t, free, "full", full(4))
	s.quota(t, 2)
	s.waitCondition(t, queued, v1alpha1.PoolReasonBlocked,
		"2 of 4 placeholder pods", "kueue.x-k8s.io/admission", "quota left")
	s.MustKubectl(t, "patch", "clusterqueue/gpus", "--type=json", "-p",
		`[{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": "24"}]`)
	s.quota(t, 3)
	s.real(t)
	s.MustPatch(t, queued, "warmpool/pool", `{"spec": {"min": 1, "max": 1}}`)
	one := func(p v1alpha1.WarmPoolStatus) bool { return p.Held == 1 && p.Ready == 1 }
	s.waitPool(t, queued, "as small as it is asked to be", one)
	s.quota(t, 1)
}

// pool is that of a namespace, on any node.
func (*kueue) pool(ns, label string) string {
	return strings.NewReplacer("labels: {app: llama}", "labels: {app: llama"+label+"}", "nodeSelector: {"+shape+": "+ns+"}", "",
		`gpu: "1"`, `gpu: "8"`).
		Replace(warmPool(ns, "min: 4", "max: 4", "mode: Enforce", "leadTime: {mode: Fixed, duration: 30s}"))
}

// quota waits until so many placeholders of the queue are admitted and placed. While it waits, and for a while then, there are never
// more without Kueue's gate, and none whose workload Kueue has not admitted.
func (s *kueue) quota(t *testing.T, want int) {
	t.Helper()
	var since time.Time
	clustertest.MustEventually(t, func() string {
		placeholders := metav1.ListOptions{LabelSelector: "forewarm.dev/warm-pool"}
		pods, err := s.client.CoreV1().Pods(queued).List(t.Context(), placeholders)
		if err != nil {
			return err.Error()
		}
		open, placed := 0, 0
		for i := range pods.Items {
			p := &pods.Items[i]
			if p.DeletionTimestamp != nil {
				continue
			}
			if !slices.Contains(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: "kueue.x-k8s.io/admission"}) {
				open++
			}
			if p.Spec.NodeName != "" {
				placed++
			}
			for _, f := range p.ManagedFields {
				if fields := f.FieldsV1.GetRawString(); f.Manager == "forewarm-warm-pool" &&
					strings.Contains(fields, "kueue") {
					t.Errorf("Forewarm has written of Kueue into %s: %s", p.Name, fields)
				}
			}
		}
		if open > want && !since.IsZero() {
			t.Fatalf("%d placeholders have no gate of Kueue's, the quota is for %d", open, want)
		}
		if open != want || placed != want {
			return fmt.Sprintf("%d placeholders have no gate of Kueue's and %d are placed, want %d", open, placed, want)
		}
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) < 15*time.Second {
			return "it is so, but not for long"
		}
		return ""
	})
	s.log(t, "%d placeholders are within the quota", want)
}

// real: a pod of the queue takes the quota of a placeholder, and its place, although the queue is full.
func (s *kueue) real(t *testing.T) {
	t.Helper()
	s.MustApply(t, `
apiVersion: v1
kind: Pod
metadata: {name: real, namespace: queued, labels: {kueue.x-k8s.io/queue-name: gpus}}
spec: {containers: [{name: server, image: model, resources: {limits: {nvidia.com/gpu: "8"}}}]}`)
	begin := time.Now()
	clustertest.MustEventually(t, func() string {
		if s.MustKubectl(t, "get", "pod/real", "-n", queued, "-o", "jsonpath={.spec.nodeName}") == "" {
			return "the real pod is not on a node"
		}
		return ""
	})
	s.log(t, "the real pod is on a node after %.0f s", time.Since(begin).Seconds())
	s.quota(t, 2)
}
