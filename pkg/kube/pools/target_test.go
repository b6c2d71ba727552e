package pools_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

// nodePools is what an operator has: static node pools, and the right of Forewarm to set the replicas of one of them.
const nodePools = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodepools.karpenter.example}
spec:
  group: karpenter.example
  names: {kind: NodePool, plural: nodepools, singular: nodepool, listKind: NodePoolList}
  scope: Cluster
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {replicas: {type: integer}}}
            status: {type: object, properties: {replicas: {type: integer}}}
      subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: forewarm-scales-gpu-pool}
rules: [{apiGroups: [karpenter.example], resources: [nodepools/scale], resourceNames: [gpu], verbs: [patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: forewarm-scales-gpu-pool}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: forewarm-scales-gpu-pool}
subjects: [{kind: ServiceAccount, name: forewarm, namespace: forewarm-system}]
`

// nodePool is a cluster-scoped target of three replicas, and two namespaces that want it.
type nodePool struct {
	testing.TB
	*apiservertest.Cluster
}

func newNodePool(t *testing.T, c *apiservertest.Cluster) *nodePool {
	t.Helper()
	n := &nodePool{t, c}
	c.MustKubectl(t, nodePools, "apply", "--server-side", "-f", "-")
	c.MustKubectl(t, "", "wait", "--for=condition=Established", "crd/nodepools.karpenter.example")
	apiservertest.Eventually(t, 20*time.Second, func() string {
		const gpu = "{apiVersion: karpenter.example/v1, kind: NodePool, metadata: {name: gpu}, spec: {replicas: 3}}"
		output, err := c.Kubectl(t, gpu, "apply", "-f", "-")
		if err != nil {
			return output
		}
		return ""
	})
	for _, namespace := range []string{"victim", "evil"} {
		c.MustKubectl(
			t,
			fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", namespace),
			"apply",
			"-f",
			"-",
		)
	}
	t.Cleanup(func() {
		for _, namespace := range []string{"victim", "evil"} {
			for name := range strings.FieldsSeq(c.MustKubectl(t, "", "get", "warmpools", "-n", namespace, "-o", "name")) {
				c.MustKubectl(
					t,
					"",
					"patch",
					name,
					"-n",
					namespace,
					"--type=merge",
					"-p",
					`{"metadata": {"finalizers": null}}`,
				)
			}
			c.MustKubectl(t, "", "delete", "warmpools,forecasts,hpa,deployments", "--all", "-n", namespace)
		}
		c.MustKubectl(t, nodePools, "delete", "-f", "-")
	})
	return n
}

// granted has the target name a namespace.
func (n *nodePool) granted(namespace string) {
	n.Helper()
	n.MustKubectl(n, "", "annotate", "--overwrite", "nodepool", "gpu", pools.ScaledByAnnotation+"="+namespace)
}

// has wants a number of replicas, now and a few steps later.
func (n *nodePool) has(want string) {
	n.Helper()
	get := func() string {
		return n.MustKubectl(n, "", "get", "nodepool", "gpu", "-o", "jsonpath={.spec.replicas}")
	}
	apiservertest.Eventually(n, 20*time.Second, func() string {
		if got := get(); got != want {
			return fmt.Sprintf("the node pool has %s replicas, want %s", got, want)
		}
		return ""
	})
	time.Sleep(10 * pace)
	if got := get(); got != want {
		n.Errorf("the node pool has %s replicas, had %s", got, want)
	}
}

// pool is one that wants a number of replicas of it. Its member has no forecast, so it holds at least its minimum.
func (n *nodePool) pool(namespace, metadata string, minimum int) {
	n.Helper()
	n.MustKubectl(n, fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: WarmPool
metadata: {name: nodes, namespace: %s%s}
spec:
  members: [{forecast: any}]
  chunk: {podTemplate: {spec: {containers: [{name: chunk, resources: {limits: {nvidia.com/gpu: "1"}}}]}}}
  leadTime: {mode: Fixed, duration: 2m}
  mode: Enforce
  min: %d
  max: 1000
  actuator: {scale: {targetRef: {apiVersion: karpenter.example/v1, kind: NodePool, name: gpu}}}`, namespace, metadata, minimum),
		"apply", "-f", "-")
}

// says waits until the pool of a namespace has a reason, and a message with a text.
func (n *nodePool) says(namespace, reason, text string) {
	n.Helper()
	apiservertest.Eventually(n, 20*time.Second, func() string {
		got := n.MustKubectl(
			n,
			"",
			"get",
			"warmpool",
			"nodes",
			"-n",
			namespace,
			"-o",
			`jsonpath={.status.conditions[?(@.type=="Actuated")].reason}: {.status.conditions[?(@.type=="Actuated")].message}`,
		)
		if !strings.HasPrefix(got, reason+": ") || !strings.Contains(got, text) {
			return fmt.Sprintf("the pool of %s says %q, want %s and %q", namespace, got, reason, text)
		}
		return ""
	})
}

// testClusterScoped: the right that an operator granted for the pool of one namespace is of use to no other namespace.
func testClusterScoped(t *testing.T, s *poolScene) {
	t.Helper()
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/warm-pools")
	n := newNodePool(t, s.Cluster)
	as := rest.CopyConfig(s.Config)
	as.Impersonate.UserName = "system:serviceaccount:forewarm-system:forewarm"
	s.lead(as, s.watch(as, quiet()))

	n.pool("evil", "", 500)
	n.says("evil", "Forbidden", "grant get on it to Forewarm's service account")
	n.has("3")
	n.MustKubectl(
		t,
		"",
		"patch",
		"clusterrole",
		"forewarm-scales-gpu-pool",
		"--type=json",
		"-p",
		`[{"op": "add", "path": "/rules/-",
		"value": {"apiGroups": ["karpenter.example"], "resources": ["nodepools"], "resourceNames": ["gpu"], "verbs": ["get"]}}]`,
	)
	n.says("evil", "TargetNotGranted", "set its annotation forewarm.dev/scaled-by-namespace to evil")
	n.has("3")
	if marks := n.MustKubectl(t, "", "get", "warmpool", "nodes", "-n", "evil", "-o",
		"jsonpath={.metadata.finalizers}{.status.scaleBefore}"); marks != "" {
		t.Errorf("a pool that may not set the target has %s", marks)
	}

	// The older pool that is refused is not in the way of the one that the target names.
	n.granted("victim")
	n.pool("victim", "", 5)
	n.says("victim", "Held", "5 chunks")
	n.has("5")
	n.says("evil", "TargetNotGranted", "does not allow pools in the namespace evil")

	// The target names another namespace while the first has set it: it stays as it is, until the first has restored it.
	n.granted("evil")
	n.says("victim", "TargetNotGranted", "does not change its replicas")
	n.says(
		"evil",
		"TargetOfOlderPool",
		"a pool in the namespace victim has set the replicas of NodePool/gpu and has not restored them",
	)
	n.has("5")
	n.MustKubectl(t, "", "delete", "warmpool", "nodes", "-n", "victim", "--wait=false")
	n.has("5")
	n.granted("victim")
	n.has("3")
	n.granted("evil")
	n.says("evil", "Held", "500 chunks")
	n.MustKubectl(t, "", "delete", "warmpool", "nodes", "-n", "evil", "--timeout=20s")
	n.has("3")
}

// testRestored: a pool from a backup does not take the number that it had set itself for what was there before.
func testRestored(t *testing.T, s *poolScene) {
	t.Helper()
	n := newNodePool(t, s.Cluster)
	n.granted("evil")
	const marks = `, finalizers: [forewarm.dev/warm-pool], annotations: {forewarm.dev/holds-capacity: "true"}`
	n.MustKubectl(t, "", "scale", "nodepool", "gpu", "--replicas=500")
	n.pool("evil", marks, 400)
	s.begin()
	n.says("evil", "ScaleBeforeUnknown", "scale it from 500 replicas to that number")
	n.has("500")
	n.MustKubectl(t, "", "delete", "warmpool", "nodes", "-n", "evil", "--timeout=20s")
	n.has("500")

	n.pool("evil", marks, 400)
	n.says("evil", "ScaleBeforeUnknown", "remove the annotation forewarm.dev/holds-capacity")
	n.MustKubectl(t, "", "scale", "nodepool", "gpu", "--replicas=3")
	n.has("3")
	n.MustKubectl(t, "", "annotate", "warmpool", "nodes", "-n", "evil", "forewarm.dev/holds-capacity-")
	n.says("evil", "Held", "400 chunks")
	n.has("400")
	n.MustKubectl(t, "", "delete", "warmpool", "nodes", "-n", "evil", "--timeout=20s")
	n.has("3")
}

// testClusterServing: a cluster-scoped target serves wherever the Forecast or the autoscaler that refers to it is.
func testClusterServing(t *testing.T, s *holdScene) {
	t.Helper()
	n := newNodePool(t, s.Cluster)
	n.granted("default")
	pool := s.pool("  actuator: {scale: {targetRef: {apiVersion: karpenter.example/v1, kind: NodePool, name: gpu}}}")
	pool = s.remember(s.hold(pool, 1, 0).Before)
	for _, object := range []string{
		`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: secret-project, namespace: victim},
			spec: {scaleTargetRef: {apiVersion: karpenter.example/v1, kind: NodePool, name: gpu}, maxReplicas: 9}}`,
		`{apiVersion: forewarm.dev/v1alpha1, kind: Forecast, metadata: {name: secret-project, namespace: victim},
			spec: {targetRef: {apiVersion: karpenter.example/v2, kind: NodePool, name: gpu}, signal: {query: x}}}`,
	} {
		// More objects than one answer has, of which the last is it.
		var others strings.Builder
		for i := range 60 {
			fmt.Fprintf(
				&others,
				"---\n{apiVersion: forewarm.dev/v1alpha1, kind: Forecast, metadata: {name: a-%d, namespace: victim}, "+
					"spec: {targetRef: {kind: Deployment, name: gpu}, signal: {query: x}}}\n",
				i,
			)
		}
		s.MustKubectl(t, others.String(), "apply", "-f", "-")
		s.hold(pool, 1, 0)
		s.MustKubectl(t, object, "create", "-f", "-")
		_, err := s.actuator.Hold(t.Context(), pool, pools.Desired{Base: 2})
		s.problem(err, "TargetServes", "in the namespace victim refers to it")
		if strings.Contains(err.Error(), "secret-project") {
			t.Errorf("the name of another namespace's object is told: %v", err)
		}
		n.has("1")
		s.MustKubectl(t, object, "delete", "-f", "-")
	}
	s.hold(pool, 2, 0)
	n.has("2")
}

// testElsewhere: a pool reaches no namespaced target but those of its own namespace, whatever it calls them, and is not concerned by
// what refers to another namespace's target of that name.
func testElsewhere(t *testing.T, s *holdScene) {
	t.Helper()
	newNodePool(t, s.Cluster)
	s.MustKubectl(t, "", "create", "deployment", "asleep", "-n", "victim", "--image=x", "--replicas=4")
	s.MustKubectl(t, "", "annotate", "deployment", "asleep", "-n", "victim", pools.ScaledByAnnotation+"=default")
	s.MustKubectl(t, "", "autoscale", "deployment", "asleep", "-n", "victim", "--max=9", "--cpu=50%")
	for _, name := range []string{"asleep", "victim/asleep", "../../victim/deployments/asleep", "asleep/scale", "."} {
		pool := s.pool("  actuator: {scale: {targetRef: {kind: Deployment, name: " + name + "}}}")
		// Also where a status says that the pool had set it.
		before := &v1alpha1.ScaleBefore{TargetRef: pool.Spec.Actuator.Scale.TargetRef, Replicas: 1}
		for _, pool := range []*v1alpha1.WarmPool{pool, s.remember(before)} {
			if held, err := s.actuator.Hold(t.Context(), pool, pools.Desired{Base: 2}); err == nil {
				t.Errorf("%s is held: %+v", name, held)
			}
		}
		if err := s.actuator.Release(t.Context(), s.remember(before)); err != nil {
			t.Logf("%s is not given back: %v", name, err)
		}
		s.expect("another namespace's", s.MustKubectl(t, "", "get", "deployment", "asleep", "-n", "victim", "-o",
			"jsonpath={.spec.replicas}"), "4")
	}
	s.sleepers("asleep")
	s.hold(s.pool(byScale("asleep")), 1, 0)
}
