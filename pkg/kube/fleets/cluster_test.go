package fleets_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/fleets"
	"github.com/forewarm/forewarm/pkg/manifest"
)

func TestCluster(t *testing.T) {
	c := apiservertest.Start(t)
	t.Run("Planned", func(t *testing.T) { testPlanned(t, c) })
	t.Run("Schema", func(t *testing.T) { testSchema(t, c) })
	t.Run("NothingWithoutTheFlags", func(t *testing.T) { testFlags(t, c) })
}

func object(name, spec string) string {
	const text = "---\napiVersion: forewarm.dev/v1alpha1\nkind: GPUFleet\nmetadata: {name: %s}\nspec: {%s}\n"
	return fmt.Sprintf(text, name, spec)
}

const nodesAndPods = `
apiVersion: v1
kind: Node
metadata: {name: a, labels: {gpu: h100}}
---
apiVersion: v1
kind: Node
metadata: {name: b, labels: {gpu: h100}}
spec: {unschedulable: true}
---
apiVersion: v1
kind: Pod
metadata: {name: e, namespace: default, labels: {app: embeddings}}
spec:
  nodeName: a
  terminationGracePeriodSeconds: 5
  containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: x, namespace: kube-system}
spec: {nodeName: a, containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 2}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: cpu, namespace: default, labels: {app: embeddings}}
spec: {containers: [{name: c, image: i}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterqueues.kueue.x-k8s.io, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: kueue.x-k8s.io
  names: {kind: ClusterQueue, plural: clusterqueues}
  scope: Cluster
  versions:
  - name: v1beta2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// queue has 12 GPUs in two flavors.
const queue = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: gpu}
spec:
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {name: a, resources: [{name: nvidia.com/gpu, nominalQuota: 4}, {name: cpu, nominalQuota: 9}]}
    - {name: b, resources: [{name: nvidia.com/gpu, nominalQuota: "8"}]}
`

// testPlanned plans from what a real API server has, and writes statuses to it.
func testPlanned(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, nodesAndPods, "create", "-f", "-")
	for _, node := range []string{"a", "b"} {
		c.MustKubectl(t, "", "patch", "node", node, "--subresource=status", "--type=merge", "-p",
			`{"status": {"allocatable": {"nvidia.com/gpu": "8"}, "conditions": [{"type": "Ready", "status": "True"}]}}`)
	}
	c.MustKubectl(t, "", "wait", "--for=condition=Established", "crd/clusterqueues.kueue.x-k8s.io")
	const two = "batch: [{name: embeddings, selector: {matchLabels: {app: embeddings}}, run: 20m}, " +
		"{name: evals, selector: {matchLabels: {app: evals}}, run: 1h}]"
	c.MustKubectl(t, queue+object("nodes", "gpus: {nodeSelector: {gpu: h100}}, "+chatOnly+", "+two)+
		object("quota", "gpus: {clusterQueue: {name: gpu}}, "+chatOnly+", "+jobs), "create", "-f", "-")
	w := newWorld()
	watch, err := fleets.NewWatch(c.Config, quiet())
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := fleets.NewCluster(c.Config, fleets.Config{Nodes: true, ClusterQueues: true}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	apiservertest.Background(t, watch.Run)
	apiservertest.Background(t, cluster.Run)
	watch.WaitForSync(t.Context(), 10*time.Second)
	w.planner = fleets.NewPlanner(fleets.Dependencies{
		Fleets: watch, Snapshots: &w.snapshots, Workloads: w, Cluster: cluster, Store: &w.plans,
	})
	w.statuses = fleets.NewStatusWriter(w.planner, watch, quiet())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const columns = "jsonpath={.status.gpus} {.status.other} {.status.batch[0].running} " +
		"{.status.conditions[?(@.type==\"CapacityKnown\")].message}"
	for name, want := range map[string]string{
		"nodes": "8 2 1 8 GPUs (nvidia.com/gpu) on 1 node; 1 node not counted",
		"quota": "12 0 1 12 GPUs (nvidia.com/gpu) by the nominal quota",
	} {
		apiservertest.Eventually(t, 20*time.Second, func() string {
			w.step(t)
			if got := c.MustKubectl(t, "", "get", "gpufleet", name, "-o", columns); !strings.HasPrefix(got, want) {
				return fmt.Sprintf("%s: %s, want %s", name, got, want)
			}
			return ""
		})
	}
	member := func(in string) bool { return watch.HasMember(snapshot.Key{Namespace: in, Name: "chat"}) }
	if !member("default") || member("ai") {
		t.Error("the members of the fleets are other Forecasts")
	}
	table := c.MustKubectl(t, "", "get", "gf")
	if !strings.Contains(table, "SPARE") || !strings.Contains(table, ", evals ") {
		t.Errorf("the table does not show every consumer:\n%s", table)
	}
	cluster.Follow(ctx, nil)
	if _, err := cluster.Pods("default"); err == nil {
		t.Error("pods are known that are followed no longer")
	}
}

// The API server and Forewarm refuse the same.
func testSchema(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	for _, spec := range []string{
		simple,
		strings.Replace(simple, "count: 64", "nodeSelector: {a: b}", 1),
		strings.Replace(simple, "20m", "1d", 1),
		strings.Replace(simple, "run: 20m", "run: 20m, gpus: \"0.5\", share: 7", 1),
	} {
		if output, err := c.Kubectl(t, object("valid", spec), "create", "--dry-run=server", "-f", "-"); err != nil {
			t.Errorf("%s: %s", spec, output)
		}
	}
	for _, pair := range [][2]string{
		{"count: 64", "count: 0"},
		{"count: 64", "count: 64, nodeSelector: {a: b}"},
		{"{count: 64}", "{}"},
		{"count: 64", "nodeSelector: {}"},
		{"count: 64", "count: 64, clusterQueue: {name: q}"},
		{"{forecast: chat}", "{forecast: chat}, {forecast: chat}"},
		{"[{forecast: chat}]", "[]"},
		{"run: 20m", "run: 20m, share: 1001"},
		{"embeddings", "A_b"},
		{", run: 20m", ""},
		{"20m", "soon"},
	} {
		spec := strings.Replace(simple, pair[0], pair[1], 1)
		if output, err := c.Kubectl(t, object("invalid", spec), "create", "--dry-run=server", "-f", "-"); err == nil {
			t.Errorf("%s is admitted: %s", spec, output)
		}
		if _, err := manifest.ReadFleets("f", []byte(object("invalid", spec))); err == nil {
			t.Errorf("Forewarm reads %s", spec)
		}
	}
}

// Without the flags for them, nodes and queues are not read, and pods in the namespaces of fleets only.
func testFlags(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	cluster, err := fleets.NewCluster(c.Config, fleets.Config{}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	apiservertest.Background(t, cluster.Run)
	cluster.Follow(t.Context(), map[string]bool{"default": true})
	apiservertest.Eventually(t, 10*time.Second, func() string {
		pods, err := cluster.Pods("default")
		if err != nil || len(pods) != 1 || pods[0].Name != "e" || pods[0].Grace != 5*time.Second {
			return fmt.Sprintf("%d pods, %v", len(pods), err)
		}
		return ""
	})
	_, nodes := cluster.Nodes()
	_, queues := cluster.Queue("gpu")
	_, pods := cluster.Pods("kube-system")
	for want, err := range map[string]error{
		"set fleets.nodes": nodes, "set fleets.clusterQueues": queues, "not read yet": pods,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The quota of a queue that was stored under another schema is bounded.
func TestOddQueues(t *testing.T) {
	for text, want := range map[string]float64{
		"{}": 0, "spec: {resourceGroups: 3}": 0,
		"spec: {resourceGroups: [{flavors: [{resources: [{name: g/a, nominalQuota: 1e-30000000}]}]}]}":    0,
		"spec: {resourceGroups: [{flavors: [{resources: [{name: g/a, nominalQuota: 3}, {name: g/a}]}]}]}": 3,
	} {
		o := unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		if got := fleets.ReadQueue(&o).Quota["g/a"]; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
