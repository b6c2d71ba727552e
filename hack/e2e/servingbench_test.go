package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

var (
	rounds  = flag.Int("rounds", 5, "how often each server is measured at each rate; figures are medians")
	lasting = flag.Duration("lasting", 10*time.Second, "how long one measurement takes")
	report  = flag.String("json", "", "file to write the figures to")
)

const (
	// bareServer is the variable with the address of the bare server, which this binary then is.
	bareServer = "FOREWARM_BENCH_BARE"
	// metrics is how many metrics there are: every server gets the same requests in turn.
	metrics = 50
)

// target is a server that is measured: its process, and those that it asks at every GET.
type target struct {
	name, own string
	behind    []string
	url       func(i int) string
	client    *http.Client
	// accept is the types of an answer; the HPA controller's where it is empty.
	accept string
}

// figures are those of a GET: CPU microseconds, those with the servers that are asked, and two quantiles of the latency in milliseconds.
type figures [4]float64

// measured is what a server was measured at: medians of the rounds, and of the ratios to the bare server's in the same round.
type measured struct {
	Server        string
	Rate          int
	Median, Ratio figures
	Failed        int

	rounds, ratios []figures
}

// TestServingBench measures a GET of one external metric as the kube-apiserver's aggregator sends it for the HPA controller: of
// Forewarm, prometheus-adapter and KEDA's metrics adapter, next to a bare TLS server that writes Forewarm's bytes.
func TestServingBench(t *testing.T) {
	if os.Getenv("FOREWARM_BENCH") == "" {
		t.Skip("FOREWARM_BENCH is unset: run `make bench-serving`")
	}
	s, targets := startTargets(t)
	var all []measured
	for round := range *rounds {
		t.Logf("round %d of %d", round+1, *rounds)
		before := s.spent(nil)
		time.Sleep(*lasting)
		idle := s.spent(before) // Without requests.
		for j, rate := range []int{500, 1500} {
			for i, target := range targets {
				if round == 0 {
					all = append(all, measured{Server: target.name, Rate: rate})
				}
				m, bare := &all[j*len(targets)+i], &all[j*len(targets)]
				target.load(t, rate, time.Second) // Reviews are cached, code and connections are warm.
				before = s.spent(nil)
				f, failed := target.load(t, rate, *lasting)
				spent := s.spent(before)
				for _, name := range append(target.behind, target.own) {
					f[1] += (spent[name] - idle[name]) * 1e6 / float64(rate) / lasting.Seconds()
				}
				f[0] = (spent[target.own] - idle[target.own]) * 1e6 / float64(rate) / lasting.Seconds()
				m.rounds, m.Failed = append(m.rounds, f), m.Failed+failed
				for k, of := range bare.rounds[round] {
					f[k] /= of
				}
				m.ratios = append(m.ratios, f)
				m.Median, m.Ratio = medians(m.rounds), medians(m.ratios)
			}
		}
	}
	for i := range targets {
		targets[i].client.CloseIdleConnections() // Servers wait for them when they end.
	}
	printMeasured(t, all)
}

// startTargets starts every server on one Prometheus; the bare one is the first.
func startTargets(t *testing.T) (*stage, []target) {
	t.Helper()
	s := setUp(t, clustertest.Options{KEDA: true})
	series, objects := map[string][]float64{}, []string{namespace("models"), workload("models", "queue-0", "1s", 1)}
	url := func(base string) func(i int) string {
		return func(i int) string {
			return base + metric("models", "queue_messages_ready", fmt.Sprintf("queue=Own-%d", i%metrics))
		}
	}
	for i := range metrics {
		e := exposedOf("models", i+1)[3*i]
		series[e.series] = slices.Repeat([]float64{15}, 3*60*4)
		expose := fmt.Sprintf("expose: {metric: %q, matchLabels: {%s: %s}}", e.metric, e.label, e.value)
		objects = append(objects, forecastOf("models", e.name, "signal: {query: '"+e.query+"'}", "step: 30s", expose))
	}
	s.writeSeriesUntil(t, time.Now().Add(2*time.Hour), 15*time.Second, series)
	var err error
	if s.prometheus, err = s.StartPrometheus(t.Context(), "global: {}"); err != nil { // It has the future already.
		t.Fatal(err)
	}
	if err = s.Install(t.Context(), "deploy/default"); err != nil {
		t.Fatal(err)
	}
	s.MustApply(t, append(objects, fmt.Sprintf(`
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: queue-0, namespace: models}
spec:
  scaleTargetRef: {name: queue-0}
  triggers: [{type: prometheus, metadata: {serverAddress: %q, query: %q, threshold: "1000"}}]`,
		s.prometheus.URL, exposedOf("models", 1)[0].query))...)
	forewarm, err := s.StartForewarm(t.Context(), "forewarm", "--prometheus-url="+s.prometheus.URL)
	if err != nil {
		t.Fatal(err)
	}
	const group = "v1beta1.external.metrics.k8s.io"
	keda := "https://127.0.0.1:" + s.get(t, "apiservice", group, "-o", "jsonpath={.spec.service.port}")
	out := []target{
		{name: "bare TLS server", own: "bare", url: url(s.startBare(t))},
		{name: "Forewarm", own: "forewarm", url: url(forewarm.URL)},
		{
			name:   "KEDA's metrics adapter",
			own:    "keda-adapter",
			behind: []string{"keda-operator", "prometheus"},
			url:    func(int) string { return keda + metric("models", "s0-prometheus", "scaledobject.keda.sh/name=queue-0") },
		},
	}
	if s.Components.PrometheusAdapter == "" {
		t.Log("NO prometheus-adapter: it is left out. hack/components/build.sh prometheus-adapter builds it.")
	} else {
		rules := filepath.Join(s.Components.Root, "hack", "e2e", "testdata", "prometheus-adapter.yaml")
		var adapter *clustertest.PrometheusAdapter
		if adapter, err = s.StartPrometheusAdapter(t.Context(), rules, s.prometheus.URL); err != nil {
			t.Fatal(err)
		}
		out = append(out, target{
			name:   "prometheus-adapter",
			own:    "prometheus-adapter",
			behind: []string{"prometheus"},
			url:    url(adapter.URL),
		})
	}
	// Like the aggregator's: one connection by HTTP/2 with the front proxy's certificate.
	certificate, err := tls.LoadX509KeyPair(
		filepath.Join(s.Dir, "front-proxy.crt"),
		filepath.Join(s.Dir, "front-proxy.key"),
	)
	if err != nil {
		t.Fatal(err)
	}
	for i := range out {
		config := clustertest.Unverified()
		config.Certificates = []tls.Certificate{certificate}
		out[i].client = &http.Client{
			Timeout:   10 * time.Second,
			Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true},
		}
	}
	clustertest.MustEventually(t, func() string {
		answer, err := out[1].get(t.Context(), 0)
		if err == nil {
			err = os.WriteFile(filepath.Join(s.Dir, "answer"), answer, 0o600)
		}
		if err != nil {
			return err.Error()
		}
		return ""
	})
	return s, out
}

// startBare starts the bare server and returns its URL. It answers once there is an answer to repeat.
func (s *stage) startBare(t *testing.T) string {
	t.Helper()
	port, err := processtest.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	bare := processtest.Program{Name: "bare", Binary: os.Args[0], Env: []string{bareServer + "=" + address}}
	if _, err = s.Run(bare); err != nil {
		t.Fatal(err)
	}
	return "https://" + address
}

// serveBare is net/http's server with TLS and HTTP/2 that writes the answer in its folder, to any client.
func serveBare(address string) error {
	read := sync.OnceValues(func() ([]byte, error) { return os.ReadFile("answer") })
	s := &http.Server{Addr: address, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) {
			text, _ := read() //nolint:errcheck // It is there before anybody asks.
			kind, body, _ := bytes.Cut(text, []byte("\n"))
			w.Header().Set("Content-Type", string(kind))
			w.Write(body) //nolint:errcheck // The client is gone.
		})}
	return s.ListenAndServeTLS("apiserver.crt", "apiserver.key")
}

// get sends the ith request for the HPA controller, and returns the answer's type and body.
func (s *target) get(ctx context.Context, i int) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url(i), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{
		"Accept":          {cmp.Or(s.accept, "application/vnd.kubernetes.protobuf,application/json")},
		"X-Forwarded-For": {"127.0.0.1"},
		"User-Agent":      {"kube-controller-manager/v1.37.2 (linux/amd64) horizontal-pod-autoscaler"},
		"X-Remote-User":   {"system:serviceaccount:kube-system:horizontal-pod-autoscaler"},
		"X-Remote-Uid":    {"6d5b9a1c-6f0c-4a0e-8d3b-0a9c2c6f7f10"},
		"X-Remote-Group":  {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
		"X-Remote-Extra-Authentication.kubernetes.io%2fcredential-Id": {"JTI=1c1a8c2e-5b0f-4a4e-9a53-3d5e1f0f6c55"},
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", s.name, response.Status, body)
	}
	return append([]byte(response.Header.Get("Content-Type")+"\n"), body...), err
}

// load sends requests at a rate, whether or not earlier ones are answered, and measures their latency.
func (s *target) load(t *testing.T, rate int, length time.Duration) (f figures, failed int) {
	t.Helper()
	took := make([]time.Duration, int(float64(rate)*length.Seconds()))
	var failures atomic.Int64
	var sent sync.WaitGroup
	begin := time.Now()
	for i := range took {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		sent.Go(func() {
			now := time.Now()
			if _, err := s.get(t.Context(), i); err != nil && failures.Add(1) == 1 {
				t.Log(err)
			}
			took[i] = time.Since(now)
		})
	}
	sent.Wait()
	slices.Sort(took)
	f[2], f[3] = took[len(took)/2].Seconds()*1000, took[len(took)*99/100].Seconds()*1000
	return f, int(failures.Load())
}

func medians(rounds []figures) (out figures) {
	for i := range out {
		sorted := slices.SortedFunc(slices.Values(rounds), func(a, b figures) int { return cmp.Compare(a[i], b[i]) })
		out[i] = sorted[len(sorted)/2][i]
	}
	return out
}

func printMeasured(t *testing.T, all []measured) {
	t.Helper()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(
		table,
		"requests/s\tserver\tCPU µs a GET\tratio\twith those it asks\tratio\tp50 ms\tratio\tp99 ms\tratio\tfailed",
	)
	for _, m := range all {
		fmt.Fprintf(table, "%d\t%s", m.Rate, m.Server)
		for i := range m.Median {
			fmt.Fprintf(table, "\t%.2f\t%.2f", m.Median[i], m.Ratio[i])
		}
		fmt.Fprintf(table, "\t%d\n", m.Failed)
	}
	table.Flush() //nolint:errcheck // The terminal is gone.
	if text, err := json.MarshalIndent(all, "", "  "); *report != "" && err == nil {
		if err := os.WriteFile(*report, text, 0o600); err != nil {
			t.Error(err)
		}
	}
}
