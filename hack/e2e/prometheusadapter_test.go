package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/e2e/cluster"
)

const (
	// level is how long a series keeps its value, or its slope: long enough for both servers to read the same.
	level = 12 * time.Second
	// points are how many values are compared, and handed how many HPAs change hands.
	points, handed = 1000, 50
)

// exposed is what an HPA asks for, and the query that prometheus-adapter makes of it by the rules of testdata.
type exposed struct {
	namespace, name, metric, label, value, query, series string
	counter                                              bool
}

// exposedOf are the metrics of a namespace: n of each rule.
func exposedOf(namespace string, n int) (out []exposed) {
	for i := range n {
		for _, rule := range []exposed{
			{metric: "queue_messages_ready", label: "queue", series: "rabbitmq_queue_messages_ready", query: "sum(%s)"},
			{metric: "http_requests_per_second", label: "service", series: "http_requests_total", query: "sum(rate(%s[4s])) by ()", counter: true},
			{metric: "vllm:num_requests_waiting", label: "model_name", series: "vllm:num_requests_waiting", query: "max(%s)"},
		} {
			rule.namespace, rule.value = namespace, fmt.Sprintf("Own-%d", i)
			rule.name = fmt.Sprintf("%s-%d", strings.ReplaceAll(rule.label, "_", "-"), i)
			rule.series = fmt.Sprintf("%s{namespace=%q,%s=%q}", rule.series, namespace, rule.label, rule.value)
			rule.query = fmt.Sprintf(rule.query, rule.series)
			out = append(out, rule)
		}
	}
	return out
}

// forecast is the Forecast that takes the metric over.
func (e exposed) forecast() string {
	return forecastOf(e.namespace, e.name, "signal: {query: '"+e.query+"'}", "step: 2s", "history: 10m",
		"serve: Shadow", "models: [SES]",
		fmt.Sprintf("expose: {metric: %q, matchLabels: {%s: %s}}", e.metric, e.label, e.value))
}

// TestPrometheusAdapter runs the real prometheus-adapter and Forewarm on one Prometheus: the values are the same, and HPAs change
// hands and back without a changed replica.
func TestPrometheusAdapter(t *testing.T) {
	if os.Getenv("FOREWARM_ADAPTER") == "" {
		t.Skip("no FOREWARM_ADAPTER: make e2e-adapter builds the real prometheus-adapter and runs this")
	}
	t.Parallel()
	s := setUp(t, cluster.Options{Sync: 2 * time.Second, Stabilization: time.Second})
	var compared []exposed
	for i := range 4 {
		compared = append(compared, exposedOf(fmt.Sprintf("shop-%d", i), 9)...)
	}
	s.foresee(t, compared)
	var err error
	if s.prometheus, err = s.StartPrometheus(t.Context(), "global: {}"); err != nil { // It has the future already.
		t.Fatal(err)
	}
	rules := filepath.Join(s.Components.Root, "hack", "e2e", "testdata", "prometheus-adapter.yaml")
	adapter, err := s.StartPrometheusAdapter(t.Context(), rules, s.prometheus.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err = s.Install(t.Context(), "deploy/default"); err != nil {
		t.Fatal(err)
	}
	objects := []string{namespace("handed")}
	for i := range handed {
		e := handedOver(i)
		objects = append(objects, e.forecast(), workload("handed", e.name, "1s", 1+i%3),
			hpa("handed", e.name, e.name, external10(e)))
	}
	for i, e := range compared {
		if i%27 == 0 {
			objects = append(objects, namespace(e.namespace))
		}
		objects = append(objects, e.forecast())
	}
	s.apply(t, objects...)
	replica, err := s.StartForewarm(t.Context(), "forewarm-0", "--prometheus-url="+s.prometheus.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.replicas = append(s.replicas, replica)
	s.valuesAreEqual(t, adapter.URL, compared)
	s.changesHands(t, adapter)
}

// handedOver is the metric of an HPA that changes hands: constant, for one to three replicas.
func handedOver(i int) exposed {
	return exposedOf("handed", i+1)[3*i]
}

func external10(e exposed) string {
	return external(fmt.Sprintf("%q", e.metric), e.label+": "+e.value)
}

// foresee writes the series twenty minutes back and ahead, once a second: both servers read the same whenever they ask.
// The thousandths of the metrics API are below 10⁻⁹ of the values that are compared.
func (s *stage) foresee(t *testing.T, compared []exposed) {
	t.Helper()
	const back, ahead = 20 * time.Minute, 20 * time.Minute
	n := int((back + ahead) / time.Second)
	from := time.Now().Truncate(time.Second).Add(-back)
	series := map[string][]float64{}
	for i, e := range compared {
		values, total := make([]float64, n), 1e7
		for j := range values {
			at := from.Add(time.Duration(j) * time.Second)
			now := 2e6 + 1e4*float64(i) + 997.3*float64(at.UnixNano()/int64(level)%50)
			if values[j] = now; e.counter {
				values[j], total = total, total+now
			}
		}
		series[e.series] = values
	}
	for i := range handed {
		series[handedOver(i).series] = slices.Repeat([]float64{10*float64(1+i%3) - 2}, n)
	}
	s.writeSeriesUntil(t, from.Add(back+ahead), time.Second, series)
}

// reading is one answer of a metrics API.
type reading struct {
	Items []struct {
		MetricName   string
		MetricLabels map[string]string
		Timestamp    time.Time
	}

	milli int64
}

// read asks a server for a metric, which must be one item.
func (e exposed) read(ctx context.Context, client *http.Client, server string) (reading, error) {
	path := server + metric(e.namespace, e.metric, e.label+"="+e.value)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
	if err != nil {
		return reading{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return reading{}, err
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return reading{}, err
	}
	out := reading{milli: milliOf(string(body))}
	if json.Unmarshal(body, &out) != nil || len(out.Items) != 1 || out.Items[0].MetricName != e.metric {
		return reading{}, fmt.Errorf("ask %s: %s: %.300s", path, response.Status, body)
	}
	return out, nil
}

// levelOf is the number of the level that a sample of a time is of; ok is false where a rate reaches into the one before.
func levelOf(at time.Time) (number int64, ok bool) {
	return at.UnixNano() / int64(level), at.Sub(at.Truncate(level)) >= 4*time.Second
}

// comparison is what two servers answer at the same level.
type comparison struct {
	client        *http.Client
	ours, theirs  string
	mu            sync.Mutex
	seen          map[string]bool
	values        map[int64]bool
	worst         float64
	unread, wrong error
}

// compare asks both servers for a metric. It counts where both have read the same level.
func (c *comparison) compare(ctx context.Context, e exposed) {
	theirs, errTheirs := e.read(ctx, c.client, c.theirs)
	ours, errOurs := e.read(ctx, c.client, c.ours)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := errors.Join(errTheirs, errOurs); err != nil {
		c.unread = err
		return
	}
	at, settled := levelOf(theirs.Items[0].Timestamp)
	until, _ := levelOf(theirs.Items[0].Timestamp.Add(time.Second)) // It has no fraction of a second.
	other, same := levelOf(ours.Items[0].Timestamp)
	if !settled || !same || at != until || at != other {
		return
	}
	difference := math.Abs(float64(ours.milli-theirs.milli)) / float64(theirs.milli)
	c.seen[fmt.Sprintf("%s/%s/%d", e.namespace, e.name, at)], c.values[theirs.milli] = true, true
	c.worst = max(c.worst, difference)
	if !(difference <= 1e-9) || !maps.Equal(ours.Items[0].MetricLabels, map[string]string{e.label: e.value}) {
		c.wrong = fmt.Errorf("%s of %s: %dm %+v, prometheus-adapter %dm %+v",
			e.metric, e.namespace, ours.milli, ours.Items, theirs.milli, theirs.Items)
	}
}

// valuesAreEqual compares both servers' values of distinct metrics and levels.
func (s *stage) valuesAreEqual(t *testing.T, adapter string, compared []exposed) {
	t.Helper()
	own := rest.CopyConfig(s.Config)
	own.CAData, own.CAFile, own.Insecure = nil, "", true
	config, err := rest.TLSConfigFor(own)
	if err != nil {
		t.Fatal(err)
	}
	const at = 8 // requests at once
	c := &comparison{
		client: &http.Client{
			Timeout:   10 * time.Second,
			Transport: &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: at},
		},
		ours:   s.replicas[0].URL,
		theirs: adapter,
		seen:   map[string]bool{},
		values: map[int64]bool{},
	}
	begin := time.Now()
	eventually(t, func() string {
		var asking sync.WaitGroup
		for first := range at {
			asking.Go(func() {
				for i := first; i < len(compared); i += at {
					c.compare(t.Context(), compared[i])
				}
			})
		}
		asking.Wait()
		if c.wrong != nil {
			t.Fatal(c.wrong)
		}
		if len(c.seen) < points {
			return fmt.Sprintf("%d points are compared, %v", len(c.seen), c.unread)
		}
		return ""
	})
	if len(c.values) < points/2 {
		t.Errorf("only %d of %d values differ from each other", len(c.values), len(c.seen))
	}
	t.Logf("%d points in %.0f s: the largest difference is %.2g of the value", len(c.seen),
		time.Since(begin).Seconds(), c.worst)
}

// changesHands: HPAs go from prometheus-adapter to Forewarm and back, and the process in charge is killed at each step.
func (s *stage) changesHands(t *testing.T, adapter *cluster.PrometheusAdapter) {
	t.Helper()
	s.allActive(t)
	before := s.handedReplicas(t)
	stop := s.guardHanded(t, before)
	defer stop()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name string
		do   func() error
		// kill is who is killed right after it, and started again.
		kill    interface{ Kill() }
		restart func(context.Context) error
	}{
		{"prometheus-adapter", func() error { return nil }, adapter, adapter.Start},
		{"Forewarm beside it", func() error { return nil }, s.replicas[0], s.replicas[0].Start},
		{"handed over", func() error { return adapter.HandOver(t.Context()) }, s.replicas[0], s.replicas[0].Start},
		{"handed over, and the other is gone", func() error { return nil }, adapter, adapter.Start},
		{"taken back", func() error { return adapter.TakeBack(t.Context()) }, adapter, adapter.Start},
		{"handed over without a fault", func() error { return adapter.HandOver(t.Context()) }, nil, nil},
		{"taken back without a fault", func() error { return adapter.TakeBack(t.Context()) }, nil, nil},
		{"taken back, and Forewarm is gone", func() error { return nil }, s.replicas[0], s.replicas[0].Start},
	} {
		missed := s.missed(t)
		must(step.do())
		if step.kill != nil {
			step.kill.Kill()
			time.Sleep(2 * s.Sync) // Every HPA has asked once.
			must(step.restart(t.Context()))
		}
		time.Sleep(2 * s.Sync)
		s.allActive(t)
		if now := s.missed(t); step.kill == nil && now != missed {
			t.Errorf("%s: HPAs missed their metric:\n%s\nbefore:\n%s", step.name, now, missed)
		}
		t.Logf("%s: %s", step.name,
			s.get(t, "apiservice", "v1beta1.external.metrics.k8s.io", "-o", "jsonpath={.spec.service.name}"))
	}
	if after := s.handedReplicas(t); after != before {
		t.Errorf("replicas %s, before %s", after, before)
	}
}

func (s *stage) handedReplicas(t *testing.T) string {
	t.Helper()
	return s.get(t, "deployments", "-n", "handed", "-o",
		`jsonpath={range .items[*]}{.metadata.name}={.spec.replicas} {end}`)
}

// missed are how often HPAs have missed their metric.
func (s *stage) missed(t *testing.T) string {
	t.Helper()
	return s.get(t, "events", "-n", "handed", "--field-selector=reason=FailedGetExternalMetric", "-o",
		`jsonpath={range .items[*]}{.involvedObject.name} {.count} {.message}{"\n"}{end}`)
}

// allActive waits until all HPAs have their metric.
func (s *stage) allActive(t *testing.T) {
	t.Helper()
	eventually(t, func() string {
		reasons := strings.Fields(s.get(t, "hpa", "-n", "handed", "-o",
			`jsonpath={range .items[*]}{.status.conditions[?(@.type=="ScalingActive")].reason} {end}`))
		if active := len(
			slices.DeleteFunc(reasons, func(reason string) bool { return reason != found }),
		); active < handed {
			return fmt.Sprintf("%d of %d HPAs have their metric", active, handed)
		}
		return ""
	})
}

// guardHanded fails the test if a replica changes.
func (s *stage) guardHanded(t *testing.T, want string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for ctx.Err() == nil {
			got, err := s.Kubectl(ctx, "", "get", "deployments", "-n", "handed", "-o",
				`jsonpath={range .items[*]}{.metadata.name}={.spec.replicas} {end}`)
			if got = strings.TrimSpace(got); err == nil && got != want {
				t.Errorf("replicas %s, before %s", got, want)
				return
			}
			time.Sleep(500 * time.Millisecond)
		}
	}()
	return func() { cancel(); <-over }
}
