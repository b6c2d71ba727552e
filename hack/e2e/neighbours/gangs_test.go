package neighbours_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// The namespaces, each with a pool of its own.
const (
	groups  = "groups"  // groups of two, real ones and placeholders, on five nodes
	single  = "single"  // placeholder pods in one PodGroup of three, on three nodes
	nowhere = "nowhere" // a scheduler that does not run
)

// gangs is a stage with coscheduling and LeaderWorkerSet.
type gangs struct {
	*stage
	*karpenterWatch
	*groupWatch
	lws *processtest.Process
}

// TestGangs: warm pools of groups, the real coscheduling and the real LeaderWorkerSet.
func TestGangs(t *testing.T) {
	s := &gangs{stage: setUpStage(t, "FOREWARM_COSCHEDULING", clustertest.Options{}, time.Now().Add(-15*time.Minute),
		steady(groups, single, nowhere))}
	err := s.StartCoscheduling(t.Context())
	if err == nil {
		s.lws, err = s.StartLWS(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	s.karpenterWatch, s.groupWatch = s.watch(t), watchGroups(t, s.stage)
	s.log(t, "coscheduling and LeaderWorkerSet are ready")
	s.arrangeGroups(t)
	s.pressure(t)
	s.preempt(t)
	s.oneGroup(t)
	s.lwsGone(t)
	s.noPodGroups(t)
	s.assertWhole(t)
}

// steady is the same demand in each namespace, for half an hour.
func steady(namespaces ...string) map[string][]float64 {
	out := map[string][]float64{}
	for _, ns := range namespaces {
		out[fmt.Sprintf("inflight{namespace=%q}", ns)] = slices.Repeat([]float64{38}, 1800)
	}
	return out
}

// arrangeGroups applies the sample, with groups of two, and the namespaces of the other pools.
func (s *gangs) arrangeGroups(t *testing.T) {
	t.Helper()
	s.MustKubectl(t, "label", "nodes", "gpu-0", "gpu-1", "gpu-2", "gpu-3", "gpu-4", shape+"="+groups)
	s.MustKubectl(t, "label", "nodes", "gpu-5", "gpu-6", "gpu-7", shape+"="+single)
	s.MustKubectl(t, "cordon", "gpu-7")
	sample, err := os.ReadFile(filepath.Join(s.Components.Root, "deploy", "samples", "warm-pool-gang-lws.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	nodes := fmt.Sprintf("        nodeSelector: {%s: %s}\n        tolerations:", shape, groups)
	own := strings.NewReplacer(
		"namespace: inference", "namespace: "+groups, "size: 4", "size: 2", "minMember: 4", "minMember: 2",
		"metadata: {name: giant, ", "metadata: {name: pool, ", "giant-inflight", "llama",
		"max: 3", "max: 3\n  mode: Enforce\n  min: 1", "{mode: Auto, fallback: 10m}", "{mode: Fixed, duration: 30s}",
		"        tolerations:", nodes,
	)
	const giant = "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: giant}"
	workload := karpenterWorkload(groups, 0, fixedLead, target)
	s.MustApply(t, strings.ReplaceAll(workload, "{kind: Deployment, name: llama}", giant))
	for _, ns := range []string{single, nowhere} {
		s.MustApply(t, karpenterWorkload(ns, 0, fixedLead, target))
	}
	text := own.Replace(string(sample))
	set := strings.NewReplacer("giant-warm", "giant", "        priorityClassName: forewarm-placeholder\n", "", "replicas: 0", "replicas: 1").
		Replace(text[strings.Index(text, "---\napiVersion: leaderworkerset"):strings.Index(text, "---\napiVersion: scheduling")])
	s.MustApply(t, text)
	time.Sleep(10 * time.Second) // Pods that are created before the policy is in force are in no group.
	s.MustApply(t, set, podGroup(groups, "giant-1", 2), podGroup(groups, "giant-2", 2),
		podGroup(groups, "giant-warm-1", 2), podGroup(groups, "giant-warm-2", 2))
	s.MustApply(t, strings.NewReplacer("kind: Deployment, name: llama", "kind: LeaderWorkerSet, name: giant", "apps/v1",
		"leaderworkerset.x-k8s.io/v1", "maxReplicas: 20", "maxReplicas: 1").Replace(hpa(groups)))
}

func podGroup(namespace, name string, least int) string {
	return fmt.Sprintf(`
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: %s, namespace: %s}
spec: {minMember: %d}`, name, namespace, least)
}

// pressure: of two groups of placeholders there is room for one and a half.
func (s *gangs) pressure(t *testing.T) {
	t.Helper()
	s.waitGroups(t, map[string]int{"groups/giant-0": 2, "groups/giant-warm-0": 2})
	s.waitPool(t, groups, "full", full(1))
	s.MustPatch(t, groups, "warmpool/pool", `{"spec": {"min": 2}}`)
	s.waitCondition(t, groups, v1alpha1.PoolReasonBlocked, "has been unschedulable since", "kubectl describe")
	s.waitGroups(t, map[string]int{"groups/giant-0": 2, "groups/giant-warm-0": 2, "groups/giant-warm-1": 0})
	if p := s.status(groups); p.Held != 2 || p.Ready != 1 {
		t.Errorf("%s: %d chunks are held and %d ready, want 2 and 1", groups, p.Held, p.Ready)
	}
}

// preempt: the HPA adds a group by the scale of the LeaderWorkerSet; it takes the place of a whole group of placeholders.
func (s *gangs) preempt(t *testing.T) {
	t.Helper()
	s.MustPatch(t, groups, "hpa/llama", `{"spec": {"maxReplicas": 2}}`)
	want := map[string]int{"groups/giant-0": 2, "groups/giant-1": 2, "groups/giant-warm-0": 0, "groups/giant-warm-1": 0}
	s.waitGroups(t, want)
	time.Sleep(20 * time.Second)
	s.waitGroups(t, want)
	s.MustPatch(t, groups, "hpa/llama", `{"spec": {"maxReplicas": 1}}`)
	s.MustPatch(t, groups, "warmpool/pool", `{"spec": {"min": 1}}`)
	s.waitGroups(t, map[string]int{"groups/giant-0": 2, "groups/giant-1": 0, "groups/giant-warm-0": 2})
}

// oneGroup: placeholder pods in one PodGroup are placed together, once there is room for all, and a scheduler that does not run is
// reported.
func (s *gangs) oneGroup(t *testing.T) {
	t.Helper()
	pool := func(ns, scheduler string) string {
		return strings.NewReplacer("labels: {app: llama}", "labels: {app: llama, scheduling.x-k8s.io/pod-group: pool}",
			"      spec:\n", "      spec:\n        schedulerName: "+scheduler+"\n", `gpu: "1"`, `gpu: "8"`).
			Replace(warmPool(ns, "min: 3", "max: 3", "mode: Enforce", "leadTime: {mode: Fixed, duration: 30s}"))
	}
	s.MustApply(t, podGroup(single, "pool", 3), pool(single, clustertest.CoschedulingName), pool(nowhere, "elsewhere"))
	s.waitCondition(t, single, v1alpha1.PoolReasonBlocked, "has been unschedulable since", "kubectl describe")
	s.waitCondition(t, nowhere, v1alpha1.PoolReasonBlocked, "check that the scheduler elsewhere is running")
	s.waitGroups(t, map[string]int{"single/pool": 0})
	s.MustKubectl(t, "uncordon", "gpu-7")
	s.waitGroups(t, map[string]int{"single/pool": 3})
	s.waitPool(t, single, "full", full(3))
}

// lwsGone: while LeaderWorkerSet is away no group is made, and the pool asks for no more than it wants.
func (s *gangs) lwsGone(t *testing.T) {
	t.Helper()
	s.lws.Kill()
	s.MustPatch(t, groups, "warmpool/pool", `{"spec": {"min": 3}}`)
	s.waitPool(t, groups, "filling", func(p v1alpha1.WarmPoolStatus) bool { return p.Held == 3 && p.Ready == 1 })
	s.waitCondition(
		t,
		groups,
		v1alpha1.PoolReasonBlocked,
		"LeaderWorkerSet/giant-warm has 1 of 3 replicas",
		"the controller of the target runs",
	)
	if p := s.status(groups); p.Held != 3 || p.Ready != 1 {
		t.Errorf("%s: without LeaderWorkerSet %d are held and %d ready, want 3 and 1", groups, p.Held, p.Ready)
	}
	s.MustPatch(t, groups, "warmpool/pool", `{"spec": {"min": 1}}`)
	if _, err := s.StartLWS(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.waitPool(t, groups, "full again", full(1))
}

// noPodGroups: without the CRD of PodGroups no placeholder of a group is placed, which is reported in the scheduler's words.
func (s *gangs) noPodGroups(t *testing.T) {
	t.Helper()
	s.MustKubectl(t, "delete", "crd", "podgroups.scheduling.x-k8s.io")
	s.MustKubectl(t, "delete", "pods", "-n", single, "--all")
	s.waitCondition(t, single, v1alpha1.PoolReasonBlocked, "has been unschedulable since", "PodGroup not found")
	s.waitGroups(t, map[string]int{"single/pool": 0})
}
