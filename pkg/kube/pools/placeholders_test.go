package pools_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

func testPriority(t *testing.T, s *holdScene) {
	t.Helper()
	pool := s.pool("")
	_, err := s.actuator.Hold(t.Context(), pool, pools.Desired{Base: 1})
	s.problem(err, "PriorityClassNotFound", "forewarm-placeholder", "apply deploy/")
	s.classed(0)
	_, err = s.actuator.Hold(t.Context(), pool, pools.Desired{Base: 1})
	s.problem(err, "PriorityTooHigh", "the value 0", "-10")
	s.expect("nothing is made", s.all("deployments"), "")
}

// twoTypes is a pool of two capacity types.
const twoTypes = `
  capacityTypes: [{name: on-demand, nodeSelector: {t: d}}, {name: spot, nodeSelector: {t: s}}]`

func testPlaceholders(t *testing.T, s *holdScene) {
	t.Helper()
	s.classed(-10)
	s.counted(s.hold(s.pool(""), 2, 1), pools.Count{Held: 3})
	s.expect("one type holds all", s.all("deployments"), "warm-llama=3")

	pool := s.pool(twoTypes)
	s.counted(s.hold(pool, 2, 1), pools.Count{Name: "on-demand", Held: 2}, pools.Count{Name: "spot", Held: 1})
	demand, spot := pools.NameFor(pool, "on-demand"), pools.NameFor(pool, "spot")
	s.expect("two types", s.all("deployments"), fmt.Sprintf("%s=2 %s=1", demand, spot))
	s.expect("the node selector", s.get("deployment/"+spot, "{.spec.template.spec.nodeSelector}"), `{"t":"s"}`)

	s.MustKubectl(t, "", "patch", "deployment", demand, "--subresource=status", "--type=merge", "-p",
		`{"status": {"replicas": 3, "readyReplicas": 3, "availableReplicas": 3}}`)
	held, err := s.actuator.Observe(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	s.counted(held, pools.Count{Name: "on-demand", Held: 2, Ready: 2}, pools.Count{Name: "spot", Held: 1})

	if err := s.actuator.Release(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	s.expect("all is given back", s.all("deployments"), "")
	if err := s.actuator.Release(t.Context(), pool); err != nil {
		t.Errorf("given back again: %v", err)
	}
}

// testQuiet: what is as it should be is not written, by whomsoever it was made, and what others change is put right.
func testQuiet(t *testing.T, s *holdScene) {
	t.Helper()
	s.classed(-10)
	pool := s.pool("")
	s.hold(pool, 2, 0)
	version := func() string { return s.get("deployment/warm-llama", "{.metadata.resourceVersion}") }
	first := version()
	s.hold(pool, 2, 0)
	s.expect("again", version(), first)
	s.actuator = s.as(s.Config)
	s.hold(pool, 2, 0)
	s.expect("by the next leader", version(), first)

	s.MustKubectl(t, "", "scale", "deployment", "warm-llama", "--replicas=7")
	s.MustKubectl(t, "", "patch", "deployment", "warm-llama", "--type=merge", "-p",
		`{"spec": {"template": {"spec": {"priorityClassName": "system-node-critical"}}}}`)
	s.hold(pool, 2, 0)
	s.expect("another's change", s.get("deployment/warm-llama",
		"{.spec.replicas} {.spec.template.spec.priorityClassName}"), "2 forewarm-placeholder")
	s.hold(pool, 5, 0)
	s.expect("one Deployment", s.all("deployments"), "warm-llama=5")
	s.expect("its manager", s.get("deployment/warm-llama", "{.metadata.managedFields[0].manager}"),
		pools.FieldManager)
}

// testForeign: an object of another owner is neither changed nor deleted, whatever it is called and labelled.
func testForeign(t *testing.T, s *holdScene) {
	t.Helper()
	s.classed(-10)
	s.MustKubectl(t, "", "create", "deployment", "warm-llama", "--image=x")
	s.MustKubectl(t, "", "label", "deployment", "warm-llama", "forewarm.dev/warm-pool=llama")
	pool := s.pool("")
	_, err := s.actuator.Hold(t.Context(), pool, pools.Desired{Base: 4})
	s.problem(err, "NameConflict", "Deployment default/warm-llama", "rename")
	if err = s.actuator.Release(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	s.expect("another's Deployment", s.all("deployments"), "warm-llama=1")

	// The same name again is another pool.
	s.MustKubectl(t, "", "delete", "deployment", "warm-llama")
	s.hold(pool, 2, 0)
	s.MustKubectl(t, "", "delete", "warmpool", "llama")
	_, err = s.actuator.Hold(t.Context(), s.pool(""), pools.Desired{Base: 4})
	s.problem(err, "NameConflict")
	s.expect("the old pool's Deployment", s.all("deployments"), "warm-llama=2")
}

func testWaiting(t *testing.T, s *holdScene) {
	t.Helper()
	s.classed(-10)
	pool := s.pool("")
	s.counted(s.hold(pool, 2, 0), pools.Count{Held: 2})
	k := s.Kubelet(t)
	pod := k.Create("warm-llama-1", map[string]string{"forewarm.dev/warm-pool": "llama"}, "", "")
	remark := func(after time.Duration) string {
		s.clock = time.Now().Add(after)
		held, err := s.actuator.Observe(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		return held.Warning
	}
	condition := func(fields string) {
		t.Helper()
		s.MustKubectl(t, "", "patch", "pod", pod.Name, "--subresource=status", "-p", `{"status": `+fields+`}`)
	}
	since := time.Now().UTC().Format(time.RFC3339)
	condition(`{"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
		"lastTransitionTime": "` + since + `", "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}]}`)
	s.expect("a node may be on its way", remark(0), "")
	if got := remark(
		pools.PendingTimeout + time.Second,
	); !strings.Contains(got, "2 of 2 placeholder pods are not available") ||
		!strings.Contains(got, "Insufficient nvidia.com/gpu") {
		t.Errorf("no node for long: %s", got)
	}
	condition(`{"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "` + since + `"}],
		"containerStatuses": [{"name": "c", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
		"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]}`)
	if got := remark(pools.PendingTimeout + time.Second); !strings.Contains(got, "ImagePullBackOff no such image") {
		t.Errorf("a node, and no image: %s", got)
	}
	s.MustKubectl(t, "", "patch", "deployment", "warm-llama", "--subresource=status", "--type=merge", "-p",
		`{"status": {"conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
		"message": "pods \"x\" is forbidden: exceeded quota: gpus, requested: 1"}]}}`)
	if got := remark(0); !strings.Contains(got, "exceeded quota: gpus") || !strings.Contains(got, "lower spec.max") {
		t.Errorf("a quota: %s", got)
	}
}

// testGates: of the pods that the Deployment created, the plan opens as many as it asks for, and leaves the gates of others.
func testGates(t *testing.T, s *holdScene) {
	t.Helper()
	s.classed(-10)
	pool := s.pool("")
	s.hold(pool, 2, 0)
	s.expect("a new pod's gate", s.get("deployment/warm-llama", "{.spec.template.spec.schedulingGates[*].name}"),
		"forewarm.dev/plan")
	create := func(names ...string) {
		t.Helper()
		for _, name := range names {
			s.MustKubectl(t, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, labels:
				{forewarm.dev/warm-pool: llama}}, spec: {schedulingGates: [{name: forewarm.dev/plan}, {name: example.com/queue}],
				containers: [{name: pause, image: pause}]}}`, name), "create", "-f", "-")
		}
		t.Cleanup(func() {
			s.MustKubectl(t, "", append([]string{"delete", "pod", "--now", "--ignore-not-found"}, names...)...)
		})
	}
	open := func() string {
		t.Helper()
		gates := s.get("pods", `{range .items[?(@.metadata.labels.forewarm\.dev/warm-pool=="llama")]}`+
			`{.spec.schedulingGates[*].name}{"\n"}{end}`)
		return fmt.Sprintf("%d of %d", strings.Count("\n"+gates, "\nexample.com/queue"), strings.Count(gates, "queue"))
	}
	create("a", "b", "c")
	s.clock = time.Now()
	s.hold(pool, 2, 0)
	s.expect("too young for the plan to know why they exist", open(), "0 of 3")
	s.clock = time.Now().Add(time.Minute)
	s.hold(pool, 2, 0)
	s.expect("as many as are asked for", open(), "2 of 3")
	s.hold(pool, 2, 0)
	s.expect("and no more", open(), "2 of 3")
	create("d")
	s.hold(pool, 1, 0)
	s.expect("a plan that shrank", open(), "2 of 4")
	s.hold(pool, 4, 0)
	s.expect("a plan that grew", open(), "4 of 4")

	remark := func(after time.Duration) string {
		t.Helper()
		s.clock = time.Now().Add(after)
		return s.hold(pool, 4, 0).Warning
	}
	after := func(about, want string) {
		t.Helper()
		if got := remark(pools.PendingTimeout + time.Minute); !strings.Contains(got, want) {
			t.Errorf("%s, for long: %s", about, got)
		}
	}
	s.expect("who set another gate may still open it", remark(0), "")
	after("another's gate", "the scheduling gate example.com/queue")
	for _, name := range []string{"a", "b", "c", "d"} {
		s.MustKubectl(t, "", "patch", "pod", name, "-p", `{"spec": {"schedulingGates": null}}`)
	}
	s.expect("a node may be on its way", remark(0), "")
	after("no scheduler", "the scheduler default-scheduler is running")

	s.MustKubectl(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: earlier}, rules: [
		{apiGroups: [apps], resources: [deployments], verbs: [get, list, create, patch, delete]},
		{apiGroups: ["", scheduling.k8s.io], resources: [pods, resourcequotas, priorityclasses], verbs: [get, list]}]}`,
		"create", "-f", "-")
	s.MustKubectl(t, "", "create", "clusterrolebinding", "earlier", "--clusterrole=earlier", "--user=earlier")
	t.Cleanup(func() { s.MustKubectl(t, "", "delete", "clusterrole,clusterrolebinding", "earlier") })
	earlier := s.as(s.User(t, "earlier"))
	apiservertest.Eventually(t, 20*time.Second, func() string {
		if _, err := earlier.Hold(t.Context(), pool, pools.Desired{Base: 4}); err != nil {
			return err.Error()
		}
		return ""
	})
	s.expect("without the right to open gates",
		s.get("deployment/warm-llama", "{.spec.template.spec.schedulingGates[*].name}"), "")
}

// testCrowded: a quota that counts placeholders keeps out the pods that are to take their places.
func testCrowded(t *testing.T, s *holdScene) {
	t.Helper()
	s.classed(-10)
	pool := s.pool("")
	quota := func(more string) {
		t.Helper()
		s.MustKubectl(t, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: gpus, namespace: default},
			spec: {hard: {requests.nvidia.com/gpu: "8"}`+more+`}}`, "replace", "--force", "-f", "-")
		// There is no controller that would count what is used.
		s.MustKubectl(t, "", "patch", "quota", "gpus", "--subresource=status", "--type=merge", "-p",
			`{"status": {"hard": {"requests.nvidia.com/gpu": "8"}, "used": {"requests.nvidia.com/gpu": "8"}}}`)
	}
	t.Cleanup(func() { s.MustKubectl(t, "", "delete", "quota", "gpus") })
	s.MustKubectl(t, "", "create", "quota", "gpus", "--hard=requests.nvidia.com/gpu=8")
	s.counted(s.hold(pool, 2, 0), pools.Count{Held: 2})
	quota("")
	got := s.hold(pool, 2, 0).Warning
	if !strings.Contains(got, "8 of 8 requests.nvidia.com/gpu are used, so it rejects") ||
		!strings.Contains(got, "NotIn [forewarm-placeholder]") {
		t.Errorf("a full quota: %q", got)
	}
	s.counted(s.hold(pool, 0, 0), pools.Count{})
	for _, scope := range []string{
		`, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: NotIn, values: [forewarm-placeholder]}]}`,
		`, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [serving]}]}`,
	} {
		quota(scope)
		s.counted(s.hold(pool, 2, 0), pools.Count{Held: 2})
	}
}

func testImages(t *testing.T, s *holdScene) {
	t.Helper()
	s.classed(-10)
	pool := s.pool("  actuator: {placeholderPods: {prePullImages: [registry.example/vllm]}}")
	volumes := func() string {
		return s.get("deployment/warm-llama", "{.spec.template.spec.volumes[*].image.reference}"+
			"{.spec.template.spec.containers[0].volumeMounts[*].mountPath}")
	}
	s.hold(pool, 1, 0)
	s.expect("image volumes", volumes(), "registry.example/vllm/pull-0")
	s.actuator.Without()
	s.hold(pool, 1, 0)
	s.expect("a cluster without", volumes(), "")
}

func testRefused(t *testing.T, s *holdScene) {
	t.Helper()
	s.classed(-10)
	s.MustKubectl(t, "", "create", "quota", "none", "--hard=count/deployments.apps=0")
	t.Cleanup(func() { s.MustKubectl(t, "", "delete", "quota", "none") })
	pool := s.pool("")
	// There is no controller that would count what is used.
	s.MustKubectl(t, "", "patch", "quota", "none", "--subresource=status", "--type=merge", "-p",
		`{"status": {"hard": {"count/deployments.apps": "0"}, "used": {"count/deployments.apps": "0"}}}`)
	_, err := s.actuator.Hold(t.Context(), pool, pools.Desired{Base: 1})
	s.problem(err, "QuotaExceeded", "exceeded quota: none")
	s.MustKubectl(t, "", "delete", "quota", "none", "--wait")
	s.MustKubectl(t, "", "create", "quota", "none", "--hard=pods=1000")
	s.MustKubectl(t, "", "patch", "warmpool", "llama", "--type=merge", "-p",
		`{"spec": {"chunk": {"podTemplate": {"spec": {"nodeSelector": {"a b": "c"}}}}}}`)
	_, err = s.actuator.Hold(t.Context(), s.stored(), pools.Desired{Base: 1})
	s.problem(err, "Rejected", "nodeSelector", "correct spec.chunk.podTemplate")
}

func testHoldingRights(t *testing.T, s *holdScene) {
	t.Helper()
	s.classed(-10)
	pool := s.pool("")
	stranger := s.as(s.User(t, "stranger"))
	_, err := stranger.Hold(t.Context(), pool, pools.Desired{Base: 1})
	s.problem(err, "Forbidden", "PriorityClass forewarm-placeholder", "apply deploy/warm-pools")
	s.MustKubectl(t, "", "create", "clusterrole", "classes", "--verb=get", "--resource=priorityclasses")
	s.MustKubectl(t, "", "create", "clusterrolebinding", "classes", "--clusterrole=classes", "--user=stranger")
	s.MustKubectl(t, "", "create", "role", "placeholders", "--verb=list,get,create,patch,delete",
		"--resource=deployments")
	s.MustKubectl(t, "", "create", "rolebinding", "placeholders", "--role=placeholders", "--user=stranger")
	t.Cleanup(func() {
		s.MustKubectl(t, "", "delete", "clusterrole,clusterrolebinding", "classes")
		s.MustKubectl(t, "", "delete", "role,rolebinding", "placeholders")
	})
	// The right to list pods is missing still, and those to buffers, which are not used.
	s.Eventually(func() error {
		_, err = stranger.Hold(t.Context(), pool, pools.Desired{Base: 0})
		return err
	})
	if _, err = stranger.Hold(t.Context(), pool, pools.Desired{Base: 1}); err == nil {
		t.Error("placeholders are missing, the pods cannot be listed, and nothing is said")
	}
	s.problem(err, "Forbidden", "list pods", "apply deploy/default, or upgrade the chart")
}
