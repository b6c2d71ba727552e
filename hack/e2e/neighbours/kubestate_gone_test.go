package neighbours_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"
)

// forecasts are those of the test, by preset, with the least value that may be served: a pod's running and waiting requests are its
// load each, and it begins a hundred times as many in a second.
var forecasts = []struct { //nolint:gochecknoglobals // A constant.
	name, kind, target, preset string
	least                      float64
}{
	{"inflight", "Deployment", "llama", "vllm/inflight", 240},
	{"arrivals", "Deployment", "llama", "vllm/arrivals", 12_000 * 0.98}, // What a new pod begins before its first scrape is not seen.
	{"busy", "Deployment", "llama", "dcgm/gpu-busy", 120},
	{"stateful", "StatefulSet", "db", "vllm/inflight", 120},
}

// TestKubeStateMetricsGone takes kube-state-metrics away, in part and as a whole, and lets it be behind, each time while all pods are
// replaced. No served value falls, a condition says what to check, and it goes when kube-state-metrics is back.
func TestKubeStateMetricsGone(t *testing.T) {
	c, folder := setUp(t, "FOREWARM_KUBE_STATE_METRICS", clustertest.Options{})
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	e := newExporter(t, client, seriesOf(t, presets(t)), map[string]float64{"ai/llama": 120, "ai/db": 60})
	p := newProxy(t, c)
	shards := make([]*kubeState, 2)
	for i := range shards {
		shards[i] = startKubeState(t, c, folder, fmt.Sprintf("shard-%d", i), p.kubeconfig, "--total-shards=2", fmt.Sprintf("--shard=%d", i))
	}
	prometheus, err := c.StartPrometheus(t.Context(), scrapes(e.address, map[string][]*kubeState{sharded: shards}))
	if err != nil {
		t.Fatal(err)
	}
	l := &life{Cluster: c, e: e}
	l.apply(t, "kind: Namespace\napiVersion: v1\nmetadata: {name: ai}", workload("Deployment", "ai", "llama", "llama", 8),
		workload("StatefulSet", "ai", "db", "db", 8))
	if err = c.Install(t.Context(), "deploy/default"); err != nil {
		t.Fatal(err)
	}
	for _, f := range forecasts {
		l.apply(t, fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: %s, namespace: ai}
spec: {targetRef: {kind: %s, name: %s}, signal: {preset: %s}, step: %s, history: 10m, staleAfter: 15m,
  leadTime: {mode: Fixed, duration: 5s}, quantile: "0.95"}`, f.name, f.kind, f.target, f.preset, interval))
	}
	l.await(t, "llama", 8)
	l.await(t, "db", 8)
	time.Sleep(2*time.Minute + 3*interval) // The range of the rates.
	_, err = c.StartForewarm(t.Context(), "forewarm-0", "--prometheus-url="+prometheus.URL, "--cluster=cluster="+sharded+"-honoured")
	if err != nil {
		t.Fatal(err)
	}
	if err = c.WaitAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := &watcher{life: l, client: client}
	w.conditions(t, false)
	for _, trouble := range []struct {
		name        string
		begin, over func(*testing.T)
	}{
		{"a shard is gone", func(*testing.T) { shards[1].Kill() }, shards[1].start},
		{"both are gone", func(*testing.T) { shards[0].Kill(); shards[1].Kill() },
			func(t *testing.T) { t.Helper(); shards[0].start(t); shards[1].start(t) }},
		{"both are frozen", func(t *testing.T) { t.Helper(); signalAll(t, shards, syscall.SIGSTOP) },
			func(t *testing.T) { t.Helper(); signalAll(t, shards, syscall.SIGCONT) }},
		{"both are behind", func(*testing.T) { p.gate.Lock() }, func(*testing.T) { p.gate.Unlock() }},
	} {
		t.Run(trouble.name, func(t *testing.T) { w.survive(t, trouble.begin, trouble.over) })
	}
}

func signalAll(t *testing.T, all []*kubeState, s syscall.Signal) {
	t.Helper()
	for _, k := range all {
		if err := k.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
}

// watcher watches the values that Forewarm serves.
type watcher struct {
	*life
	client kubernetes.Interface
}

// survive replaces all pods during a trouble.
func (w *watcher) survive(t *testing.T, begin, over func(*testing.T)) {
	t.Helper()
	stop := w.watch(t)
	defer stop()
	begin(t)
	since := time.Now()
	w.kubectl(t, "", "rollout", "restart", "-n", "ai", "deployment/llama", "statefulset/db")
	w.conditions(t, true)
	t.Logf("the conditions came after %.0f s", time.Since(since).Seconds())
	w.kubectl(t, "", "rollout", "status", "-n", "ai", "deployment/llama", "--timeout=5m")
	w.kubectl(t, "", "rollout", "status", "-n", "ai", "statefulset/db", "--timeout=5m")
	time.Sleep(20 * interval)
	over(t)
	since = time.Now()
	w.conditions(t, false)
	t.Logf("they went %.0f s after its end", time.Since(since).Seconds())
}

// conditions waits until all Forecasts have the condition with the advice, or none has, and all are ready.
func (w *watcher) conditions(t *testing.T, there bool) {
	t.Helper()
	err := clustertest.Eventually(t.Context(), checkTimeout, func(ctx context.Context) error {
		for _, f := range forecasts {
			out, err := w.Kubectl(ctx, "", "get", "forecast", f.name, "-n", "ai", "-o", "jsonpath={.status.state} {.status.conditions}")
			if err != nil {
				return err
			}
			advised := strings.Contains(out, "OwnersUnknown") && strings.Contains(out, "check that kube-state-metrics")
			serves := strings.HasPrefix(out, "Warming") || strings.HasPrefix(out, "Ready")
			if advised != there || !there && !serves {
				return fmt.Errorf("%s has the advice: %v, want %v: %s", f.name, advised, there, out)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// watch reads the values each second, which must not fall. It returns how to stop.
func (w *watcher) watch(t *testing.T) (stop func()) {
	t.Helper()
	quit, n := make(chan struct{}), 0
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-quit:
				return
			case <-time.After(time.Second):
			}
			for _, f := range forecasts {
				v, err := w.value(t.Context(), f.name)
				if n++; err != nil || v < f.least {
					t.Errorf("%s: %g, %v, want at least %g", f.name, v, err, f.least)
				}
			}
		}
	})
	return func() {
		close(quit)
		watching.Wait()
		t.Logf("%d values were read", n)
	}
}

// value is what an HPA reads of a Forecast.
func (w *watcher) value(ctx context.Context, name string) (float64, error) {
	path := "/apis/external.metrics.k8s.io/v1beta1/namespaces/ai/" + name
	body, err := w.client.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	var list struct {
		Items []struct{ Value resource.Quantity }
	}
	if err := json.Unmarshal(body, &list); err != nil || len(list.Items) != 1 {
		return 0, fmt.Errorf("read %s: %.200s: %w", path, body, err)
	}
	return list.Items[0].Value.AsApproximateFloat64(), nil
}
