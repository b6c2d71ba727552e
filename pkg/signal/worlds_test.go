package signal_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"

	"github.com/forewarm/forewarm/pkg/signal"
)

// world is a store's content: what is true of workload llama in namespace ai, and what others report alongside it.
type world struct {
	*rand.Rand

	series strings.Builder
	// cluster of the series; empty where the store has one.
	cluster string
	// want is each preset's true value.
	want map[string]float64
}

// add stores a series of a constant, or of a counter that grows by it each second.
func (w *world) add(name string, v float64, counter bool, labels ...string) {
	if w.cluster != "" {
		labels = append(labels, `cluster="`+w.cluster+`"`)
	}
	values := fmt.Sprintf("%gx40", v)
	if counter {
		values = fmt.Sprintf("0%+gx40", 15*v)
	}
	fmt.Fprintf(&w.series, "  %s{%s} %s\n", name, strings.Join(labels, ","), values)
}

// reported is the labels by which an exporter in a namespace reports a pod of another, scraped with honorLabels or without.
func reported(honoured bool, exporter, namespace, pod string) []string {
	of := []string{`namespace="` + namespace + `"`}
	if pod != "" {
		of = append(of, `pod="`+pod+`"`)
	}
	if honoured {
		return append(of, `job="`+exporter+`"`)
	}
	for i := range of {
		of[i] = "exported_" + of[i]
	}
	return append(of, `namespace="`+exporter+`"`, `pod="exporter-0"`, `instance="10.9.9.9:80"`, `job="`+exporter+`"`)
}

// fill is a workload in a namespace: its pods, by how many jobs and at which ports they are scraped, and its GPUs.
func (w *world) fill(namespace string, honoured, merged bool) {
	w.want = map[string]float64{}
	w.add("kube_replicaset_owner", 1, false, append(reported(honoured, "monitoring", namespace, ""),
		`replicaset="llama-7d9"`, `owner_kind="Deployment"`, `owner_name="llama"`)...)
	for i := range 1 + w.IntN(4) {
		pod := fmt.Sprintf("llama-7d9-%d", i)
		w.add("kube_pod_owner", 1, false, append(reported(honoured, "monitoring", namespace, pod),
			`owner_kind="ReplicaSet"`, `owner_name="llama-7d9"`)...)
		busy := float64(w.IntN(100)) / 100
		w.add("DCGM_FI_PROF_GR_ENGINE_ACTIVE", busy, false, append(reported(honoured, "gpu-operator", namespace, pod),
			fmt.Sprintf(`UUID="GPU-%s-%d"`, namespace, i))...)
		w.want["dcgm/gpu-busy"] += busy
		w.add("kube_pod_container_resource_requests", 1, false, append(reported(honoured, "monitoring", namespace, pod),
			`resource="nvidia_com_gpu"`, `node="n1"`, `unit="integer"`)...)
		w.want["dcgm/gpus-allocated"]++
		running, waiting, begun := float64(w.IntN(50)), float64(w.IntN(9)), float64(w.IntN(30))
		w.want["vllm/inflight"] += running + waiting
		w.want["vllm/queue"] += waiting
		w.want["vllm/arrivals"] += begun
		if w.want["vllm/offered"] += running; begun == 0 || running == 0 {
			w.want["vllm/offered"] += waiting
		}
		w.want["tgi/queue"] += waiting
		jobs := map[string]string{"pods": ":8000"}
		if merged {
			jobs["mesh"] = ":15020"
		}
		for job, port := range jobs {
			of := func(more ...string) []string {
				return append([]string{
					`namespace="` + namespace + `"`, `pod="` + pod + `"`, `job="` + job + `"`,
					fmt.Sprintf(`instance="10.0.0.%d%s"`, i, port), `node="n1"`,
				}, more...)
			}
			engine := []string{`engine="0"`, `model_name="m"`}
			w.add("vllm:num_requests_running", running, false, of(engine...)...)
			w.add("vllm:num_requests_waiting", waiting, false, of(engine...)...)
			w.add("vllm:time_to_first_token_seconds_count", begun, true, of(engine...)...)
			w.add("tgi_queue_size", waiting, false, of()...)
		}
	}
}

// lies is what the pods of another tenant report of namespace ai; honorLabels is not theirs to set.
func (w *world) lies() {
	values := []float64{1e6, -9, 1e18, 0, 64, 0.5}
	for i := range 1 + w.IntN(40) {
		metric := []string{
			"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:time_to_first_token_seconds_count", "tgi_queue_size",
			"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "kube_pod_owner", "kube_replicaset_owner", "kube_pod_container_resource_requests",
			"kube_pod_status_phase", "kube_node_labels",
		}[w.IntN(10)]
		labels := []string{
			`namespace="mallory"`, fmt.Sprintf(`pod="mallory-%d"`, i), `job="kube-state-metrics"`,
			`exported_namespace="ai"`, fmt.Sprintf(`exported_pod="llama-7d9-%d"`, w.IntN(6)), `engine="0"`,
			`model_name="m"`, `UUID="GPU-ai-0"`, `resource="nvidia_com_gpu"`, `node="n1"`, `phase="Failed"`,
			`replicaset="llama-7d9"`, `label_nvidia_com_gpu_replicas="4"`, `owner_kind="ReplicaSet"`,
			`owner_name="llama-7d9"`,
		}
		if w.IntN(2) == 0 { // Series that differ in their pod alone.
			labels = append(labels, `instance="10.0.0.0:8000"`)
		}
		w.add(metric, values[w.IntN(len(values))], w.IntN(2) == 0, labels...)
	}
}

// However a store came by its series, the value is the workload's own: a pod that two jobs read counts once, another cluster's
// namesake and what another tenant's pods report not at all.
func TestNobodyElseMovesTheValue(t *testing.T) {
	worlds := 200
	if testing.Short() {
		worlds = 20
	}
	presets := []string{
		"vllm/inflight",
		"vllm/queue",
		"vllm/arrivals",
		"vllm/offered",
		"tgi/queue",
		"dcgm/gpu-busy",
		"dcgm/gpus-allocated",
	}
	for seed := range worlds {
		w := &world{Rand: rand.New(rand.NewPCG(uint64(seed), 36))} //nolint:gosec // A test's draws.
		believed := signal.DefaultTrust()
		clusters := w.IntN(2) == 0
		if clusters {
			believed.Cluster, w.cluster = "cluster=a", "a"
		}
		w.fill("ai", w.IntN(2) == 0, w.IntN(2) == 0)
		want := w.want
		w.lies()
		w.fill("prod", w.IntN(2) == 0, false)
		if clusters {
			w.cluster = "b"
			w.fill("ai", w.IntN(2) == 0, false)
		}
		storage := promqltest.LoadedStorage(t, "load 15s\n"+unique(w.series.String()))
		engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute})
		evaluated := func(expr string) (promql.Vector, error) {
			query, err := engine.NewInstantQuery(t.Context(), storage, nil, expr, time.Unix(300, 0))
			if err != nil {
				return nil, err
			}
			defer query.Close()
			vector, err := query.Exec(t.Context()).Vector()
			return slices.Clone(vector), err
		}
		anyCluster := signal.Trust{Exporters: believed.Exporters}
		counted, err := evaluated(anyCluster.Clusters("ai"))
		if said := len(counted) == 1 && counted[0].F == 2; err != nil || said != clusters {
			t.Errorf("world %d: %v clusters, %v; want 2: %v", seed, counted, err, clusters)
		}
		for _, name := range presets {
			p, err := signal.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			expr, err := p.Render("ai", signal.Target{Kind: "Deployment", Name: "llama"}, believed)
			if err != nil {
				t.Fatal(err)
			}
			vector, err := evaluated(expr)
			if err != nil || len(vector) != 1 || math.Abs(vector[0].F-want[name]) > 1e-9 {
				t.Errorf("world %d, %s: %v, %v; want %g", seed, name, vector, err, want[name])
			}
		}
		if err := storage.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the world:\n%s", w.series.String())
			return
		}
	}
}
