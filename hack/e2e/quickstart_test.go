package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/hack/repotest"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// llama is what Prometheus knows of the Deployment of the quickstart: its requests, and the owners of its pod.
const llama = `
vllm:num_requests_running{namespace="inference",pod="llama-1-a"} 90
vllm:num_requests_waiting{namespace="inference",pod="llama-1-a"} 10
kube_pod_owner{namespace="inference",pod="llama-1-a",owner_kind="ReplicaSet",owner_name="llama-1"} 1
kube_replicaset_owner{namespace="inference",replicaset="llama-1",owner_kind="Deployment",owner_name="llama"} 1
`

// quickstart: the Forecast of docs/quickstart.md and the HPA of docs/hpa.md, as the pages show them, scale a Deployment.
// 100 requests at 64 a replica need two.
func quickstart(t *testing.T, s *stage) {
	t.Helper()
	s.demand.expose(llama)
	s.MustApply(t, namespace("inference"), workload("inference", "llama", "1s", 1),
		documented(t, "docs/quickstart.md"), documented(t, "docs/hpa.md"))
	s.active(t, "inference", "llama", found)
	s.scaled(t, "inference", "llama", 2)
}

// documented returns the objects of the namespace inference that a page shows.
func documented(t *testing.T, page string) string {
	t.Helper()
	root, err := clustertest.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	var objects []string
	blocks, _ := repotest.Split(string(text))
	for _, b := range blocks {
		if b.Language == "yaml" && strings.Contains(b.Text, "\nkind: ") &&
			strings.Contains(b.Text, "namespace: inference") {
			objects = append(objects, b.Text)
		}
	}
	if len(objects) == 0 {
		t.Fatalf("%s shows no object", page)
	}
	return strings.Join(objects, "---\n")
}
