package neighbours_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/signal"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// serverStage is a cluster with model servers that behave like ones, and all autoscalers in one run.
type serverStage struct {
	*clustertest.Cluster
	client     kubernetes.Interface
	fleet      *fleet
	prometheus *clustertest.Prometheus
	scenes     []scene
	trace      recorded
	// begin is when the loads begin, at the start of a cycle.
	begin   time.Time
	senders map[string]*sender
	pickers map[string]*endpointPicker

	mu    sync.Mutex
	tapes map[string]tape
	// behind is how late a server's step was, at most.
	behind time.Duration
}

// moment is what a scene shows at a step.
type moment struct {
	// served is what its HPA reads; demand the requests in flight.
	served, ready, demand float64
}

// tape is the moments of a scene.
type tape []moment

func (t tape) column(of func(moment) float64) (out []float64) {
	for _, m := range t {
		out = append(out, of(m))
	}
	return out
}

// TestServers: the same load to model servers behind each autoscaler, at once.
func TestServers(t *testing.T) {
	s := setUpServers(t)
	var all sync.WaitGroup
	for i := range s.scenes {
		one := &s.scenes[i]
		sent := &sender{namespace: one.namespace(), begin: s.begin, pick: s.turn}
		if p := s.pickers[one.namespace()]; p != nil {
			sent.pick = p.pick
		}
		s.senders[one.namespace()] = sent
		all.Go(func() { sent.run(t, s.trace.load(one.load, 0, loadLength)) })
		all.Go(func() { s.record(t, one) })
	}
	s.scale(t)
	time.Sleep(time.Until(s.begin.Add(killAt)))
	s.pickers["flat-"+forewarms].Kill()
	all.Wait()
	t.Logf("a server was up to %s behind", s.behind)
	results := s.results(t)
	report(t, results)
	for i := range results {
		check(t, &results[i])
	}
	checkModel(t, results)
	s.killed(t, "flat-"+forewarms)
	s.pool(t, "rise-"+forewarms+"-picker")
}

// scale creates the autoscalers once there is something to read: before, they would scale down.
func (s *serverStage) scale(t *testing.T) {
	t.Helper()
	time.Sleep(time.Until(s.begin.Add(20 * time.Second)))
	var all []string
	for i := range s.scenes {
		all = append(all, s.scenes[i].autoscaler(s.prometheus.URL))
	}
	s.MustApply(t, all...)
}

// turn is a gateway without a picker.
func (s *serverStage) turn(_ context.Context, namespace string, _ []byte) (address string, done func()) {
	return s.fleet.turn(namespace), func() {}
}

// setUpServers returns when the loads are to begin: all servers are ready, and Forewarm has read the history.
func setUpServers(t *testing.T) *serverStage {
	t.Helper()
	if os.Getenv("FOREWARM_KUBE_STATE_METRICS") == "" {
		t.Skip("no FOREWARM_KUBE_STATE_METRICS: make e2e-servers builds it")
	}
	s := &serverStage{
		scenes: scenes(), trace: openRecorded(t),
		senders: map[string]*sender{}, pickers: map[string]*endpointPicker{}, tapes: map[string]tape{},
	}
	s.Cluster, _ = setUp(t, "FOREWARM_ENDPOINT_PICKER", clustertest.Options{KEDA: true, Stabilization: time.Minute})
	var err error
	if s.client, err = kubernetes.NewForConfig(s.Config); err != nil {
		t.Fatal(err)
	}
	s.begin = time.Now().Add(3 * time.Minute).Truncate(demandStep)
	s.fleet = newFleet(t, s.client)
	if err = s.Install(t.Context(), "deploy/with-keda-scaler"); err != nil {
		t.Fatal(err)
	}
	for i := range s.scenes {
		s.MustApply(t, s.scenes[i].workload())
	}
	s.startPickers(t)
	s.writeHistory(t)
	s.observe(t)
	if _, err = s.StartForewarm(t.Context(), "forewarm", "--prometheus-url="+s.prometheus.URL); err != nil {
		t.Fatal(err)
	}
	if err = s.WaitAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if late := time.Since(s.begin); late > 0 {
		t.Fatalf("the set-up is %s late", late)
	}
	t.Logf("the loads begin in %s", time.Until(s.begin))
	time.Sleep(time.Until(s.begin))
	return s
}

// observe starts kube-state-metrics and a Prometheus that scrapes all.
func (s *serverStage) observe(t *testing.T) {
	t.Helper()
	targets := httptest.NewServer(s.fleet)
	t.Cleanup(targets.Close)
	in := installation{os.Getenv("FOREWARM_KUBE_STATE_METRICS"), s.Kubeconfig, s.Dir}
	kube := startKubeState(t, in, "kube-state-metrics")
	var configuration strings.Builder
	fmt.Fprintf(&configuration, `
global: {scrape_interval: %[1]s, scrape_timeout: %[1]s}
scrape_configs:
  - job_name: vllm
    http_sd_configs: [{url: %[2]q, refresh_interval: 2s}]
  - job_name: kube-state-metrics
    honor_labels: true
    static_configs: [{targets: [%[3]q], labels: {namespace: monitoring, pod: exporter-0}}]
  - job_name: pickers
    static_configs:
`, interval, targets.URL, kube.address)
	for ns, p := range s.pickers {
		const target = "      - {targets: [%q], labels: {namespace: %[2]s, pod: picker-%[2]s}}\n"
		fmt.Fprintf(&configuration, target, p.metrics, ns)
	}
	var err error
	if s.prometheus, err = s.StartPrometheus(t.Context(), configuration.String()); err != nil {
		t.Fatal(err)
	}
}

// writeHistory writes the past of the loads.
func (s *serverStage) writeHistory(t *testing.T) {
	t.Helper()
	series := map[string][]float64{}
	pasts := map[string][]float64{}
	for load := range rates {
		pasts[load] = s.trace.past(load)
	}
	for i := range s.scenes {
		maps.Copy(series, s.scenes[i].history(slices.Clone(pasts[s.scenes[i].load])))
	}
	if err := s.WriteSeries(t.Context(), s.begin.Add(-loadHistory), demandStep, series); err != nil {
		t.Fatal(err)
	}
}

// record records a scene at each step.
func (s *serverStage) record(t *testing.T, one *scene) {
	t.Helper()
	for at := s.begin; at.Before(s.begin.Add(loadLength)); at = at.Add(demandStep) {
		time.Sleep(time.Until(at))
		var now moment
		var behind time.Duration
		now.ready, now.demand, behind = s.fleet.now(one.namespace())
		if one.foreseen() {
			var err error
			if now.served, err = s.served(t.Context(), one.namespace()); err != nil {
				t.Errorf("%s: %v", one.namespace(), err)
			}
		}
		s.mu.Lock()
		s.behind = max(s.behind, behind)
		s.tapes[one.namespace()] = append(s.tapes[one.namespace()], now)
		s.mu.Unlock()
	}
}

// served is the value that the HPA of a namespace reads.
func (s *serverStage) served(ctx context.Context, namespace string) (float64, error) {
	const metric = "forecasts.forewarm.dev/llama/demand"
	text, err := s.client.CoreV1().RESTClient().Get().
		AbsPath("/apis/custom.metrics.k8s.io/v1beta2/namespaces", namespace, metric).DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	var list struct {
		Items []struct{ Value resource.Quantity }
	}
	if err = json.Unmarshal(text, &list); err != nil || len(list.Items) != 1 {
		return 0, fmt.Errorf("%w: %s", err, text)
	}
	return list.Items[0].Value.AsApproximateFloat64(), nil
}

// pool: the picker's own metrics show the requests that the servers do.
func (s *serverStage) pool(t *testing.T, namespace string) {
	t.Helper()
	var sums [2]float64
	for i, name := range []string{"vllm/inflight", "gateway/inflight"} {
		values := s.preset(t, name, namespace)[6*time.Minute/demandStep:]
		for _, v := range values {
			sums[i] += v / float64(len(values))
		}
	}
	t.Logf("%s: %.1f in flight by the servers, %.1f by the picker", namespace, sums[0], sums[1])
	if math.Abs(sums[1]/sums[0]-1) > .1 {
		t.Errorf("%s: %.1f in flight by the servers, %.1f by the picker", namespace, sums[0], sums[1])
	}
}

// preset is what a preset showed of a namespace at each step; 0 without a server.
func (s *serverStage) preset(t *testing.T, name, namespace string) (out []float64) {
	t.Helper()
	preset, err := signal.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	expr, err := preset.Every(demandStep).
		Render(namespace, signal.Target{Kind: "Deployment", Name: "llama"}, signal.DefaultTrust())
	if err != nil {
		t.Fatal(err)
	}
	end := s.begin.Add(loadLength)
	values, err := store{s.prometheus.URL}.read(t.Context(), expr, s.begin, end)
	if err != nil {
		t.Fatal(err)
	}
	for at := s.begin; at.Before(end); at = at.Add(demandStep) {
		out = append(out, values[at.Truncate(interval).Unix()])
	}
	return out
}
