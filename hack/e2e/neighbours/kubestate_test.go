package neighbours_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
	"github.com/forewarm/forewarm/pkg/signal"
	"k8s.io/client-go/kubernetes"
)

// TestKubeStateMetrics runs the real kube-state-metrics, as two replicas and as two shards, under a real Prometheus. What happens to
// workloads leaves the value of every preset what the servers show.
func TestKubeStateMetrics(t *testing.T) {
	c, folder := setUp(t, "FOREWARM_KUBE_STATE_METRICS", clustertest.Options{})
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	all := presets(t)
	e := newExporter(t, client, seriesOf(t, all), map[string]float64{"ai/llama": 120, "ai/db": 60, "ai/other": 7, "prod/llama": 1000})
	neighbours := map[string][]*kubeState{}
	for i := range 2 {
		neighbours[replicated] = append(neighbours[replicated],
			startKubeState(t, c, folder, fmt.Sprintf("replica-%d", i), c.Kubeconfig))
		neighbours[sharded] = append(neighbours[sharded],
			startKubeState(t, c, folder, fmt.Sprintf("shard-%d", i), c.Kubeconfig, "--total-shards=2", fmt.Sprintf("--shard=%d", i)))
	}
	p, err := c.StartPrometheus(t.Context(), scrapes(e.address, neighbours))
	if err != nil {
		t.Fatal(err)
	}
	l := &life{Cluster: c, e: e}
	l.apply(t, "kind: Namespace\napiVersion: v1\nmetadata: {name: ai}", "kind: Namespace\napiVersion: v1\nmetadata: {name: prod}")
	l.apply(t, workload("Deployment", "ai", "llama", "llama", 1), workload("StatefulSet", "ai", "db", "db", 2),
		workload("Deployment", "ai", "llama-2", "other", 1), workload("Deployment", "prod", "llama", "llama", 1))
	l.await(t, "llama", 1)
	l.await(t, "db", 2)
	time.Sleep(2*time.Minute + 3*interval) // The range of the rates.
	begin := time.Now()
	l.play(t)
	end := time.Now()
	s := store{url: p.URL}
	for name, preset := range all {
		for _, target := range []signal.Target{
			{Kind: "Deployment", Name: "llama"}, {Kind: "StatefulSet", Name: "db"},
			{Kind: "Deployment", Name: "green", FormerNames: []string{"llama"}},
		} {
			t.Run(name+"/"+target.Name, func(t *testing.T) { s.compare(t, preset, begin, end, target) })
		}
	}
}
