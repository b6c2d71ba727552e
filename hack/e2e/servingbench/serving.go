package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
	"github.com/forewarm/forewarm/hack/processtest"
)

const (
	// models is how many metrics there are, each selected by a label: every server gets the same requests in turn.
	models = 50
	path   = "/apis/external.metrics.k8s.io/v1beta1/namespaces/"
	metric = "queue_messages_ready"
	// answerFile has the bare server's answer, and in its first line the type.
	answerFile = "answer"
)

// server is one that answers the GET.
type server struct {
	name string
	urls []string
	own  *processtest.Process
	// behind are those that it has to ask at every GET.
	behind []*processtest.Process
	client *http.Client
}

// reading is what one server was measured at, at one rate. Figures of several rounds are medians.
type reading struct {
	Server string `json:"server"`
	Rate   int    `json:"rate"`
	// CPU and Behind are microseconds a GET: of the server, and of the servers that it asks.
	CPU    float64 `json:"cpuMicroseconds"`
	Behind float64 `json:"behindMicroseconds"`
	P50    float64 `json:"p50Milliseconds"`
	P99    float64 `json:"p99Milliseconds"`
	Failed int     `json:"failed"`
	// The ratios are to the bare server's in the same round.
	CPURatio float64 `json:"cpuRatio"`
	P50Ratio float64 `json:"p50Ratio"`
	P99Ratio float64 `json:"p99Ratio"`
}

// serveBare is net/http's server with TLS and HTTP/2 that writes the answer in the folder, whoever asks.
func serveBare(ctx context.Context, port int) error {
	text, err := os.ReadFile(answerFile)
	if err != nil {
		return err
	}
	kind, body, _ := bytes.Cut(text, []byte("\n"))
	s := &http.Server{
		Addr: fmt.Sprintf("127.0.0.1:%d", port), ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", string(kind))
			w.Write(body) //nolint:errcheck // The client is gone.
		}),
	}
	context.AfterFunc(ctx, func() { s.Close() }) //nolint:errcheck // It ends either way.
	if err = s.ListenAndServeTLS("apiserver.crt", "apiserver.key"); errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// startServers starts every server on one Prometheus; the bare one is the first.
func startServers(ctx context.Context, c *clustertest.Cluster) ([]server, error) {
	series := map[string][]float64{}
	for i := range models {
		name := fmt.Sprintf(`rabbitmq_queue_messages_ready{namespace="models",queue="model-%d"}`, i)
		series[name] = slices.Repeat([]float64{float64(100 + i)}, 3*60*4)
	}
	if err := c.WriteSeries(ctx, time.Now().Add(-time.Hour), 15*time.Second, series); err != nil {
		return nil, err
	}
	prometheus, err := c.StartPrometheus(ctx, "global: {}") // It has the next two hours already.
	if err != nil {
		return nil, err
	}
	if err = c.Install(ctx, "deploy/default"); err != nil {
		return nil, err
	}
	if err = c.Apply(ctx, objects(prometheus.URL)); err != nil {
		return nil, err
	}
	forewarm, err := c.StartForewarm(ctx, "forewarm", "--prometheus-url="+prometheus.URL)
	if err != nil {
		return nil, err
	}
	keda, err := c.Kubectl(ctx, "", "get", "apiservice", "v1beta1.external.metrics.k8s.io", "-o", "jsonpath={.spec.service.port}")
	if err != nil {
		return nil, err
	}
	out := []server{
		{name: "bare TLS server"},
		{name: "Forewarm", own: forewarm.Process, urls: urls(forewarm.URL, metric, "queue=model-%d", models)},
		{
			name: "KEDA's metrics adapter", own: process(c, "keda-adapter"),
			behind: []*processtest.Process{process(c, "keda-operator"), prometheus.Process},
			urls:   urls("https://127.0.0.1:"+keda, "s0-prometheus", "scaledobject.keda.sh/name=model-%d", 1),
		},
	}
	if c.Components.PrometheusAdapter == "" {
		progress("NO prometheus-adapter: it is left out. hack/components/build.sh prometheus-adapter builds it.")
	} else {
		rules := filepath.Join(c.Components.Root, "hack", "e2e", "testdata", "prometheus-adapter.yaml")
		adapter, err := c.StartPrometheusAdapter(ctx, rules, prometheus.URL)
		if err != nil {
			return nil, err
		}
		out = append(out, server{
			name: "prometheus-adapter", own: adapter.Process, behind: []*processtest.Process{prometheus.Process},
			urls: urls(adapter.URL, metric, "queue=model-%d", models),
		})
	}
	for i := range out {
		if out[i].client, err = aggregator(c.Dir); err != nil {
			return nil, err
		}
	}
	return out, startBare(ctx, c, &out[0], out[1])
}

// startBare starts the bare server, with what another answers.
func startBare(ctx context.Context, c *clustertest.Cluster, bare *server, other server) error {
	var answer []byte
	err := clustertest.Eventually(ctx, time.Minute, func(ctx context.Context) (err error) {
		answer, err = other.get(ctx, 0)
		return err
	})
	if err != nil {
		return err
	}
	if err = os.WriteFile(filepath.Join(c.Dir, answerFile), answer, 0o600); err != nil {
		return err
	}
	port, err := processtest.FreePort(ctx)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program := processtest.Program{Name: "bare", Binary: self, Args: []string{fmt.Sprintf("--bare=%d", port)}}
	if bare.own, err = program.Start(c.Dir); err != nil {
		return err
	}
	bare.urls = urls(fmt.Sprintf("https://127.0.0.1:%d", port), metric, "queue=model-%d", models)
	return nil
}

// objects are the Forecasts, and a ScaledObject with its workload.
func objects(prometheus string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Namespace
metadata: {name: models}
---
%s
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: model-0, namespace: models}
spec:
  selector: {matchLabels: {app: model}}
  template:
    metadata: {labels: {app: model}}
    spec: {containers: [{name: server, image: model}]}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: model-0, namespace: models}
spec:
  scaleTargetRef: {name: model-0}
  triggers:
    - type: prometheus
      metadata:
        serverAddress: %s
        query: sum(rabbitmq_queue_messages_ready{namespace="models",queue="model-0"})
        threshold: "1000"
`, each(models, func(i string) string {
		return fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: model-%[1]s, namespace: models}
spec:
  targetRef: {kind: Deployment, name: model-%[1]s}
  signal: {query: 'sum(rabbitmq_queue_messages_ready{queue="model-%[1]s"})'}
  leadTime: {mode: Fixed, duration: 5m}
  quantile: "0.95"
  expose: {metric: %[2]s, matchLabels: {queue: model-%[1]s}}`, i, metric)
	}), prometheus)
}

func urls(base, metric, selector string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = base + path + "models/" + metric + "?labelSelector=" + url.QueryEscape(fmt.Sprintf(selector, i))
	}
	return out
}
