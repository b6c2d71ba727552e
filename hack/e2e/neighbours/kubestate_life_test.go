package neighbours_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// checkTimeout bounds what takes seconds, on a busy machine.
const checkTimeout = 5 * time.Minute

// life is what happens to workloads.
type life struct {
	*clustertest.Cluster
	e *exporter
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

func (l *life) apply(t *testing.T, manifests ...string) {
	t.Helper()
	if err := l.Apply(t.Context(), strings.Join(manifests, "\n---\n")); err != nil {
		t.Fatal(err)
	}
}

func (l *life) kubectl(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := l.Kubectl(t.Context(), input, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// await waits until a load in namespace ai has so many pods, all of them ready and of the newest template, and until that is scraped.
func (l *life) await(t *testing.T, name string, replicas int) {
	t.Helper()
	begin := time.Now()
	err := clustertest.Eventually(t.Context(), checkTimeout, func(ctx context.Context) error {
		out, err := l.Kubectl(ctx, "", "get", "pods", "-n", "ai", "-l", "app="+name, "-o",
			`jsonpath={range .items[*]}{.metadata.deletionTimestamp}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}`)
		if ready := strings.Count(out, "True\n"); err == nil && (ready != replicas || strings.Count(out, "\n") != replicas) {
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
		l.kubectl(t, "", "scale", "-n", "ai", "deployment/llama", "statefulset/db", n)
		l.await(t, "llama", replicas)
		l.await(t, "db", replicas)
	}
	for range 2 {
		l.kubectl(t, "", "rollout", "restart", "-n", "ai", "deployment/llama", "statefulset/db")
		l.kubectl(t, "", "rollout", "status", "-n", "ai", "deployment/llama", "--timeout=5m")
		l.kubectl(t, "", "rollout", "status", "-n", "ai", "statefulset/db", "--timeout=5m")
		l.await(t, "llama", 2)
		l.await(t, "db", 2)
	}
	for _, pod := range []string{l.podOf(t, "llama"), "db-1"} {
		l.kubectl(t, fmt.Sprintf(`{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": %q, "namespace": "ai"}}`, pod),
			"create", "--raw", "/api/v1/namespaces/ai/pods/"+pod+"/eviction", "-f", "-")
	}
	l.await(t, "llama", 2)
	l.await(t, "db", 2)
	l.kubectl(t, "", "delete", "-n", "ai", "deployment/llama", "statefulset/db")
	l.await(t, "llama", 0)
	l.await(t, "db", 0)
	l.apply(t, workload("Deployment", "ai", "llama", "llama", 2), workload("StatefulSet", "ai", "db", "db", 2))
	l.await(t, "llama", 2)
	l.await(t, "db", 2)
	// Renamed: both names serve for a while.
	l.apply(t, workload("Deployment", "ai", "green", "llama", 3))
	l.await(t, "green", 3)
	l.kubectl(t, "", "delete", "-n", "ai", "deployment/llama")
	l.await(t, "llama", 0)
}

// podOf is one of the pods of an app.
func (l *life) podOf(t *testing.T, app string) string {
	t.Helper()
	return l.kubectl(t, "", "get", "pods", "-n", "ai", "-l", "app="+app, "-o", "jsonpath={.items[0].metadata.name}")
}
