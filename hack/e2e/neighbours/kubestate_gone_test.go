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

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// forecasts are those of the test, by preset, with the least value that may be served: a pod's running and waiting requests are its
// load each. Rates would need minutes of history before a fallback believes them.
var forecasts = []struct {
	name, kind, target, preset string
	least                      float64
}{
	{"inflight", "Deployment", "llama", "vllm/inflight", 240},
	{"busy", "Deployment", "llama", "dcgm/gpu-busy", 0.6},
	{"stateful", "StatefulSet", "db", "vllm/inflight", 120},
}

// watcher watches the values that Forewarm serves while kube-state-metrics is in trouble.
type watcher struct {
	*life

	client kubernetes.Interface
	shards []*kubeState
	proxy  *proxy
}

// gone takes kube-state-metrics away, in part and as a whole, and lets it be behind, each time while all pods are replaced. No served
// value falls, a condition says what to check, and says that it is over when kube-state-metrics is back.
func (w *watcher) gone(t *testing.T, prometheus string) {
	t.Helper()
	w.create(t, "gone",
		workload("Deployment", "gone", "llama", "llama", 8), workload("StatefulSet", "gone", "db", "db", 3))
	if err := w.Install(t.Context(), "deploy/default"); err != nil {
		t.Fatal(err)
	}
	for _, f := range forecasts {
		w.MustApply(t, fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: %s, namespace: gone}
spec: {targetRef: {kind: %s, name: %s}, signal: {preset: %s}, step: %s, history: 10m, staleAfter: 15m,
  leadTime: {mode: Fixed, duration: 5s}, quantile: "0.95"}`, f.name, f.kind, f.target, f.preset, interval))
	}
	w.await(t, "llama", 8)
	w.await(t, "db", 3)
	_, err := w.StartForewarm(t.Context(), "forewarm-0",
		"--prometheus-url="+prometheus, "--cluster=cluster="+troubled+"-exported")
	if err != nil {
		t.Fatal(err)
	}
	if err = w.WaitAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.conditions(t, false)
	time.Sleep(3 * time.Minute) // The fallback serves what has lasted for more than two.
	all := func(s syscall.Signal) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			for _, k := range w.shards {
				if err := k.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, trouble := range []struct {
		name string
		// lasts is how long it lasts at least: the fallback serves after two minutes without a sample.
		lasts       time.Duration
		begin, over func(*testing.T)
	}{
		{"a shard is gone", 0, func(*testing.T) { w.shards[1].Kill() }, w.shards[1].start},
		{"both are gone", 150 * time.Second, func(*testing.T) { w.shards[0].Kill(); w.shards[1].Kill() }, func(t *testing.T) {
			t.Helper()
			w.shards[0].start(t)
			w.shards[1].start(t)
		}},
		{"both are frozen", 0, all(syscall.SIGSTOP), all(syscall.SIGCONT)},
		{"both are behind", 0, func(*testing.T) { w.proxy.gate.Lock() }, func(*testing.T) { w.proxy.gate.Unlock() }},
	} {
		t.Run(trouble.name, func(t *testing.T) {
			stop := w.watch(t)
			defer stop()
			trouble.begin(t)
			w.survive(t, trouble.lasts)
			since := time.Now()
			trouble.over(t)
			w.conditions(t, false)
			t.Logf("it was over after %.0f s", time.Since(since).Seconds())
		})
	}
}

// survive replaces all pods during a trouble.
func (w *watcher) survive(t *testing.T, lasts time.Duration) {
	t.Helper()
	begin := time.Now()
	w.MustKubectl(t, "rollout", "restart", "-n", w.namespace, "deployment/llama", "statefulset/db")
	w.conditions(t, true)
	t.Logf("the conditions came after %.0f s", time.Since(begin).Seconds())
	w.MustKubectl(t, "rollout", "status", "-n", w.namespace, "deployment/llama", "--timeout=5m")
	w.MustKubectl(t, "rollout", "status", "-n", w.namespace, "statefulset/db", "--timeout=5m")
	time.Sleep(max(10*interval, lasts-time.Since(begin)))
	for _, f := range forecasts {
		state := w.MustKubectl(t, "get", "forecast", f.name, "-n", w.namespace, "-o", "jsonpath={.status.state}")
		if lasts > 0 && state != "FallingBack" {
			t.Errorf("%s is %s after %s, want FallingBack", f.name, state, lasts)
		}
	}
}

// conditions waits until all Forecasts have the condition with the advice, or have it no more, and serve. A condition stays for a while
// and says that it is over.
func (w *watcher) conditions(t *testing.T, there bool) {
	t.Helper()
	err := clustertest.Eventually(t.Context(), clustertest.CheckTimeout, func(ctx context.Context) error {
		for _, f := range forecasts {
			out, err := w.Kubectl(ctx, "", "get", "forecast", f.name, "-n", w.namespace, "-o",
				"jsonpath={.status.state} {.status.conditions}")
			if err != nil {
				return err
			}
			advised := strings.Contains(out, "OwnersUnknown") &&
				strings.Contains(out, "check that all shards of kube-state-metrics") &&
				!strings.Contains(out, "this ended at")
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
				n++
				if err != nil || v < f.least {
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
	path := "/apis/external.metrics.k8s.io/v1beta1/namespaces/gone/" + name
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
