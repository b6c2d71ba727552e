package neighbours_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// life is what happens to workloads.
type life struct {
	*clustertest.Cluster

	namespace string
}

// workload is one whose pods serve a load, with a GPU each. A pod is ready after more than a scrape, as a model server is.
func workload(kind, namespace, name, load string, replicas int) string {
	strategy := "strategy: {rollingUpdate: {maxSurge: 50%, maxUnavailable: 0}}"
	if kind == "StatefulSet" {
		strategy = "serviceName: db"
	}
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: %[1]s
metadata: {name: %[3]s, namespace: %[2]s}
spec:
  replicas: %[5]d
  %[6]s
  selector: {matchLabels: {app: %[3]s}}
  template:
    metadata: {labels: {app: %[3]s, serves: %[4]s}, annotations: {start.e2e/delay: 6s}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - {name: server, image: model, resources: {limits: {nvidia.com/gpu: "1"}}}`, kind, namespace, name, load, replicas, strategy)
}

// create makes a namespace and what is in it.
func (l *life) create(t *testing.T, namespace string, manifests ...string) {
	t.Helper()
	object := "kind: Namespace\napiVersion: v1\nmetadata: {name: " + namespace + "}"
	l.MustApply(t, append([]string{object}, manifests...)...)
}

// podStates is a line for each pod: when it was deleted, and whether it is ready.
const podStates = `jsonpath={range .items[*]}{.metadata.deletionTimestamp}` +
	`{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}`

// await waits until a load has so many pods, all of them ready and of the newest template, and until that is scraped.
func (l *life) await(t *testing.T, name string, replicas int) {
	t.Helper()
	begin := time.Now()
	err := clustertest.Eventually(t.Context(), clustertest.CheckTimeout, func(ctx context.Context) error {
		out, err := l.Kubectl(ctx, "", "get", "pods", "-n", l.namespace, "-l", "app="+name, "-o", podStates)
		if n := strings.Count(out, "\n"); err == nil && (n != replicas || strings.Count(out, "True\n") != n) {
			err = fmt.Errorf("%s has the pods %q, want %d ready", name, out, replicas)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s has %d pods after %.0f s", name, replicas, time.Since(begin).Seconds())
	time.Sleep(3 * interval)
}

// play scales, rolls out, evicts, deletes, creates again and renames.
func (l *life) play(t *testing.T) {
	t.Helper()
	for _, replicas := range []int{8, 2} {
		n := fmt.Sprintf("--replicas=%d", replicas)
		l.MustKubectl(t, "scale", "-n", l.namespace, "deployment/llama", "statefulset/db", n)
		l.await(t, "llama", replicas)
		l.await(t, "db", replicas)
	}
	for range 2 {
		l.MustKubectl(t, "rollout", "restart", "-n", l.namespace, "deployment/llama", "statefulset/db")
		l.MustKubectl(t, "rollout", "status", "-n", l.namespace, "deployment/llama", "--timeout=5m")
		l.MustKubectl(t, "rollout", "status", "-n", l.namespace, "statefulset/db", "--timeout=5m")
		l.await(t, "llama", 2)
		l.await(t, "db", 2)
	}
	l.evict(t, l.podOf(t, "llama"))
	l.evict(t, "db-1")
	l.await(t, "llama", 2)
	l.await(t, "db", 2)
	l.MustKubectl(t, "delete", "-n", l.namespace, "deployment/llama", "statefulset/db")
	l.await(t, "llama", 0)
	l.await(t, "db", 0)
	l.MustApply(t, workload("Deployment", l.namespace, "llama", "llama", 2),
		workload("StatefulSet", l.namespace, "db", "db", 2))
	l.await(t, "llama", 2)
	l.await(t, "db", 2)
	// Renamed: both names serve for a while.
	l.MustApply(t, workload("Deployment", l.namespace, "green", "llama", 3))
	l.await(t, "green", 3)
	l.MustKubectl(t, "delete", "-n", l.namespace, "deployment/llama")
	l.await(t, "llama", 0)
}

// evict evicts a pod, as a drain does.
func (l *life) evict(t *testing.T, pod string) {
	t.Helper()
	eviction := fmt.Sprintf(`{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": %q}}`, pod)
	path := "/api/v1/namespaces/" + l.namespace + "/pods/" + pod + "/eviction"
	if _, err := l.Kubectl(t.Context(), eviction, "create", "--raw", path, "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

// podOf is one of the pods of an app.
func (l *life) podOf(t *testing.T, app string) string {
	t.Helper()
	return l.MustKubectl(t, "get", "pods", "-n", l.namespace, "-l", "app="+app, "-o",
		"jsonpath={.items[0].metadata.name}")
}
