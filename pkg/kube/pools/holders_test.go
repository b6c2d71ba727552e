package pools_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

// Eventually waits until something goes without an error.
func (s *holdScene) Eventually(try func() error) {
	s.Helper()
	apiservertest.Eventually(s.T, 20*time.Second, func() string {
		if err := try(); err != nil {
			return err.Error()
		}
		return ""
	})
}

const byBuffer = "  actuator: {capacityBuffer: {}}"

func testNoBufferCRD(t *testing.T, s *holdScene) {
	t.Helper()
	pool := s.pool(byBuffer)
	_, err := s.actuator.Hold(t.Context(), pool, pools.Desired{Base: 1})
	s.problem(err, "CapacityBufferNotInstalled", "install the CRD", "spec.actuator.placeholderPods")
	_, err = s.actuator.Observe(t.Context(), pool)
	s.problem(err, "CapacityBufferNotInstalled")
	if err := s.actuator.Release(t.Context(), pool); err != nil {
		t.Errorf("nothing to give back: %v", err)
	}
	s.expect("no template is made for no one", s.get("podtemplates", "{.items[*].metadata.name}"), "")
}

// buffers installs the CRD for a test.
func (s *holdScene) buffers() {
	s.Helper()
	file := filepath.Join("pkg", "kube", "pools", "testdata", "capacitybuffers.yaml")
	s.MustKubectl(s.T, "", "apply", "-f", file)
	s.MustKubectl(s.T, "", "wait", "--for=condition=Established", "crd/capacitybuffers.autoscaling.x-k8s.io")
	s.Cleanup(func() { s.MustKubectl(s.T, "", "delete", "-f", file, "--wait") })
	s.Eventually(func() error {
		_, err := s.Kubectl(s.T, "", "get", "capacitybuffers")
		return err
	})
}

func testBuffers(t *testing.T, s *holdScene) {
	t.Helper()
	s.buffers()
	pool := s.pool(byBuffer)
	s.counted(s.hold(pool, 2, 1), pools.Count{Held: 3})
	s.expect("the buffer", s.get("capacitybuffers",
		"{.items[*].spec.podTemplateRef.name} {.items[*].spec.replicas} {.items[*].spec.provisioningStrategy}"),
		"warm-llama 3 buffer.x-k8s.io/active-capacity")
	s.expect("its chunk", s.get(
		"podtemplate/warm-llama",
		"{.template.spec.containers[0].resources.requests} {.template.spec.priorityClassName}",
	), `{"nvidia.com/gpu":"1"}`)
	version := func() string {
		return s.get("capacitybuffer/warm-llama", "{.metadata.resourceVersion}") + " " +
			s.get("podtemplate/warm-llama", "{.metadata.resourceVersion}")
	}
	first := version()
	s.hold(pool, 2, 1)
	s.actuator = s.as(s.Config)
	s.hold(pool, 2, 1)
	s.expect("again, and by the next leader", version(), first)

	now := time.Now().UTC().Format(time.RFC3339)
	s.MustKubectl(t, "", "patch", "capacitybuffer", "warm-llama", "--subresource=status", "--type=merge", "-p",
		strings.ReplaceAll(`{"status": {"replicas": 2, "conditions": [
			{"type": "ReadyForProvisioning", "status": "True", "reason": "r", "message": "", "lastTransitionTime": "NOW"},
			{"type": "Provisioning", "status": "True", "reason": "r", "message": "", "lastTransitionTime": "NOW"},
			{"type": "LimitedByQuotas", "status": "True", "reason": "r", "message": "gpus", "lastTransitionTime": "NOW"}
		]}}`, "NOW", now))
	held := s.hold(pool, 4, 0)
	if held.Types[0] != (pools.Count{Held: 4, Ready: 2}) ||
		!strings.Contains(held.Warning, "to 2 of 4 chunks (gpus)") {
		t.Errorf("limited by a quota: %+v", held)
	}
	pool = s.pool(twoTypes + "\n" + byBuffer)
	s.hold(pool, 1, 1)
	s.expect("two types", s.get("capacitybuffers", "{.items[*].metadata.name}"),
		pools.NameFor(pool, "on-demand")+" "+pools.NameFor(pool, "spot"))
	if err := s.actuator.Release(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	s.expect("all is given back", s.get("capacitybuffers,podtemplates", "{.items[*].metadata.name}"), "")
}

// testSwitch: what a pool held by one actuator is gone when it is held by another.
func testSwitch(t *testing.T, s *holdScene) {
	t.Helper()
	s.classed(-10)
	s.buffers()
	s.hold(s.pool("  actuator: {placeholderPods: {}}"), 3, 0)
	s.MustKubectl(t, "", "patch", "warmpool", "llama", "--type=json", "-p",
		`[{"op": "replace", "path": "/spec/actuator", "value": {"capacityBuffer": {}}}]`)
	s.hold(s.stored(), 3, 0)
	s.expect("no placeholders alongside the buffer", s.all("deployments"), "")
	s.expect("the buffer", s.all("capacitybuffers"), "warm-llama=3")
	s.MustKubectl(t, "", "patch", "warmpool", "llama", "--type=json", "-p",
		`[{"op": "replace", "path": "/spec/actuator", "value": {"placeholderPods": {}}}]`)
	s.hold(s.stored(), 3, 0)
	s.expect("placeholders again", s.all("deployments"), "warm-llama=3")
	s.expect("no buffer alongside them", s.get("capacitybuffers,podtemplates", "{.items[*].metadata.name}"), "")
}

// byScale is a pool of what sleeps.
func byScale(name string) string {
	return "  actuator: {scale: {targetRef: {kind: Deployment, name: " + name + "}}}"
}

// sleepers are things to scale: four each.
func (s *holdScene) sleepers(names ...string) {
	s.Helper()
	for _, name := range names {
		s.MustKubectl(s.T, "", "create", "deployment", name, "--image=x", "--replicas=4")
	}
}

// remember puts what there was before into the pool's status, as the controller does.
func (s *holdScene) remember(before *v1alpha1.ScaleBefore) *v1alpha1.WarmPool {
	s.Helper()
	pool := s.stored()
	pool.Status.ScaleBefore = before
	return pool
}

func testScale(t *testing.T, s *holdScene) {
	t.Helper()
	s.sleepers("asleep", "other")
	pool := s.pool(byScale("asleep"))
	held := s.hold(pool, 1, 1)
	s.expect("nothing is set before it is remembered", s.all("deployments"), "asleep=4 other=4")
	if held.Before == nil || held.Before.Replicas != 4 || held.Types[0] != (pools.Count{}) {
		t.Fatalf("first: %+v", held)
	}
	pool = s.remember(held.Before)
	held = s.hold(pool, 1, 1)
	s.expect("set", s.all("deployments"), "asleep=2 other=4")
	if *held.Before != *pool.Status.ScaleBefore || held.Types[0].Held != 2 {
		t.Errorf("second: %+v", held)
	}
	version := s.get("deployment/asleep", "{.metadata.resourceVersion}")
	s.hold(pool, 2, 0)
	s.expect("again", s.get("deployment/asleep", "{.metadata.resourceVersion}"), version)
	s.placed(pool)

	// The spec names another.
	s.pool(byScale("other"))
	held = s.hold(s.remember(held.Before), 1, 0)
	s.expect("the first is given back", s.all("deployments"), "asleep=4 other=4")
	pool = s.remember(held.Before)
	s.hold(pool, 1, 0)
	s.expect("the second is set", s.all("deployments"), "asleep=4 other=1")
	if err := s.actuator.Release(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	s.expect("all is given back", s.all("deployments"), "asleep=4 other=4")

	s.MustKubectl(t, "", "delete", "deployment", "other")
	if err := s.actuator.Release(t.Context(), pool); err != nil {
		t.Errorf("a target that is gone: %v", err)
	}
}

// placed: of the two replicas those count as ready whose pods are on a node.
func (s *holdScene) placed(pool *v1alpha1.WarmPool) {
	s.Helper()
	s.MustKubectl(s.T, "", "patch", "deployment", "asleep", "--subresource=status", "--type=merge", "-p",
		`{"status": {"replicas": 2}}`)
	k := s.Kubelet(s.T)
	k.Bind(k.Create("asleep-1", map[string]string{"app": "asleep"}, "", ""), "node")
	k.Create("asleep-2", map[string]string{"app": "asleep"}, "", "")
	held := s.hold(pool, 1, 1)
	if held.Types[0] != (pools.Count{Held: 2, Ready: 1}) || held.Warning != "" {
		s.Errorf("one is on a node, a node for the other may be on its way: %+v", held)
	}
	s.clock = s.clock.Add(pools.PendingTimeout + time.Minute)
	if held = s.hold(pool, 1, 1); !strings.Contains(held.Warning, "no scheduler has considered asleep-2") {
		s.Errorf("it waits for long: %q", held.Warning)
	}
	// Without its controller no replica is made, and there is no pod to read a reason from.
	s.MustKubectl(s.T, "", "delete", "pod", "asleep-2")
	s.MustKubectl(s.T, "", "patch", "deployment", "asleep", "--subresource=status", "--type=merge", "-p",
		`{"status": {"replicas": 1}}`)
	waits := metav1.Condition{
		Type:               v1alpha1.PoolConditionReady,
		Status:             metav1.ConditionFalse,
		LastTransitionTime: metav1.NewTime(s.clock),
	}
	pool.Status.Conditions = []metav1.Condition{waits}
	if held = s.hold(pool, 1, 1); held.Warning != "" {
		s.Errorf("the controller may be about to make the other: %q", held.Warning)
	}
	s.clock = s.clock.Add(pools.PendingTimeout)
	if held = s.hold(pool, 1, 1); !strings.Contains(held.Warning, "Deployment/asleep has 1 of 2 replicas") {
		s.Errorf("its controller has not made the other for long: %q", held.Warning)
	}
}

// testServing: a workload that a Forecast is about, or that an autoscaler scales, is not touched.
func testServing(t *testing.T, s *holdScene) {
	t.Helper()
	s.sleepers("asleep")
	pool := s.pool(byScale("asleep"))
	pool = s.remember(s.hold(pool, 1, 0).Before)
	s.MustKubectl(t, "", "autoscale", "deployment", "asleep", "--max=9", "--cpu=50%")
	_, err := s.actuator.Hold(t.Context(), pool, pools.Desired{Base: 1})
	s.problem(err, "TargetServes", "HorizontalPodAutoscaler asleep", "never scales such a workload")
	s.MustKubectl(t, "", "delete", "hpa", "asleep")
	s.MustKubectl(t, `
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: llama, namespace: default}
spec: {targetRef: {kind: Deployment, name: asleep}, signal: {query: x}}`, "create", "-f", "-")
	_, err = s.actuator.Hold(t.Context(), pool, pools.Desired{Base: 1})
	s.problem(err, "TargetServes", "Forecast llama")
	s.expect("it is as it was", s.all("deployments"), "asleep=4")
}

// testRivals: of two pools that name one target, the older has it.
func testRivals(t *testing.T, s *holdScene) {
	t.Helper()
	s.sleepers("asleep")
	pool := s.pool(byScale("asleep"))
	older := s.hold(pool, 1, 0)
	s.MustKubectl(t, `
apiVersion: forewarm.dev/v1alpha1
kind: WarmPool
metadata: {name: m-younger, namespace: default}
spec:
  members: [{forecast: llama}]
  max: 8
  chunk: {podTemplate: {spec: {containers: [{name: server, image: vllm, resources: {limits: {nvidia.com/gpu: "1"}}}]}}}
`+byScale("asleep"), "create", "-f", "-")
	younger := s.stored()
	younger.Name, younger.UID = "m-younger", "younger"
	_, err := s.actuator.Hold(t.Context(), younger, pools.Desired{Base: 3})
	s.problem(err, "TargetOfOlderPool", "the older pool llama")
	s.hold(s.remember(older.Before), 1, 0)
	s.expect("the older's", s.all("deployments"), "asleep=1")
}

func testNoScale(t *testing.T, s *holdScene) {
	t.Helper()
	pool := s.pool(byScale("nowhere"))
	_, err := s.actuator.Hold(t.Context(), pool, pools.Desired{Base: 1})
	s.problem(err, "TargetNotFound", "Deployment/nowhere does not exist in default")
	pool = s.pool("  actuator: {scale: {targetRef: {apiVersion: a/v1, kind: B, name: c}}}")
	_, err = s.actuator.Hold(t.Context(), pool, pools.Desired{Base: 1})
	s.problem(err, "TargetNotFound", "has no kind B in a/v1")

	s.sleepers("asleep")
	pool = s.pool(byScale("asleep"))
	pool = s.remember(s.hold(pool, 1, 0).Before)
	s.MustKubectl(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: reader}, rules: [
		{apiGroups: ["*"], resources: ["*/scale"], verbs: [get]},
		{apiGroups: [forewarm.dev], resources: [forecasts, warmpools], verbs: [list]},
		{apiGroups: [autoscaling], resources: [horizontalpodautoscalers], verbs: [list]},
		{apiGroups: [keda.sh], resources: [scaledobjects], verbs: [list]},
		{apiGroups: [apps], resources: [deployments], verbs: [list]}]}`, "create", "-f", "-")
	s.MustKubectl(t, "", "create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=reader")
	t.Cleanup(func() { s.MustKubectl(t, "", "delete", "clusterrole,clusterrolebinding", "reader") })
	reader := s.as(s.User(t, "reader"))
	apiservertest.Eventually(t, 20*time.Second, func() string {
		_, err = reader.Hold(t.Context(), pool, pools.Desired{Base: 1})
		if p := pools.AsProblem(err); p == nil ||
			!strings.Contains(p.Message, "grant patch on the scale to Forewarm's service account") {
			return err.Error()
		}
		return ""
	})
}
