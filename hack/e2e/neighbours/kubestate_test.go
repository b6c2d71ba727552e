package neighbours_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/signal"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// TestKubeStateMetrics runs the real kube-state-metrics, as two replicas and as two shards, under a real Prometheus.
func TestKubeStateMetrics(t *testing.T) {
	t.Parallel()
	c, folder := setUp(t, "FOREWARM_KUBE_STATE_METRICS", clustertest.Options{})
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	e := newExporter(t, client, seriesOf(t, presets(t)), map[string]float64{
		"ai/llama": 120, "ai/db": 60, "ai/other": 7, "prod/llama": 1000, "gone/llama": 120, "gone/db": 60,
	})
	p := newProxy(t, c)
	in, behind := installation{folder, c.Kubeconfig, c.Dir}, installation{folder, p.kubeconfig, c.Dir}
	neighbours := map[string][]*kubeState{}
	for i := range 2 {
		shard := []string{"--total-shards=2", fmt.Sprintf("--shard=%d", i)}
		neighbours[replicated] = append(neighbours[replicated], startKubeState(t, in, fmt.Sprintf("replica-%d", i)))
		neighbours[sharded] = append(neighbours[sharded], startKubeState(t, in, fmt.Sprintf("shard-%d", i), shard...))
		k := startKubeState(t, behind, fmt.Sprintf("troubled-%d", i), shard...)
		neighbours[troubled] = append(neighbours[troubled], k)
	}
	prometheus, err := c.StartPrometheus(t.Context(), scrapes(e.address, neighbours))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("Values", func(t *testing.T) {
		t.Parallel()
		values(t, &life{Cluster: c, namespace: "ai"}, store{url: prometheus.URL})
	})
	t.Run("Gone", func(t *testing.T) {
		t.Parallel()
		w := &watcher{
			life:   &life{Cluster: c, namespace: "gone"},
			client: client,
			shards: neighbours[troubled],
			proxy:  p,
		}
		w.gone(t, prometheus.URL)
	})
}

// values: what happens to workloads leaves the value of every preset what the servers show.
func values(t *testing.T, l *life, s store) {
	t.Helper()
	l.create(t, "prod", workload("Deployment", "prod", "llama", "llama", 1))
	l.create(t, "ai", workload("Deployment", "ai", "llama", "llama", 1), workload("StatefulSet", "ai", "db", "db", 2),
		workload("Deployment", "ai", "llama-2", "other", 1))
	l.await(t, "llama", 1)
	l.await(t, "db", 2)
	time.Sleep(2*time.Minute + 3*interval) // The range of the rates.
	begin := time.Now()
	l.play(t)
	end := time.Now()
	for name, preset := range presets(t) {
		for _, target := range []signal.Target{
			{Kind: "Deployment", Name: "llama"},
			{Kind: "StatefulSet", Name: "db"},
			{Kind: "Deployment", Name: "green", FormerNames: []string{"llama"}},
		} {
			t.Run(name+"/"+target.Name, func(t *testing.T) { s.compare(t, preset, begin, end, target) })
		}
	}
}
