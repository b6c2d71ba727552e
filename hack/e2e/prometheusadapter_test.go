package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
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
	s := setUp(t, clustertest.Options{Sync: 2 * time.Second, Stabilization: time.Second})
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
			hpa("handed", e.name, e.name, external(strconv.Quote(e.metric), e.label+": "+e.value)))
	}
	for i, e := range compared {
		if i%27 == 0 {
			objects = append(objects, namespace(e.namespace))
		}
		objects = append(objects, e.forecast())
	}
	s.MustApply(t, objects...)
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

// readBy asks a server for a metric, which must be one item.
func (s *stage) readBy(server string, e exposed) (out reading, err error) {
	path := metric(e.namespace, e.metric, e.label+"="+e.value)
	body, err := s.ask(server + path)
	if err != nil {
		return out, err
	}
	out.milli = milliOf(body)
	if json.Unmarshal([]byte(body), &out) != nil || len(out.Items) != 1 || out.Items[0].MetricName != e.metric {
		return out, fmt.Errorf("ask %s%s: %.300s", server, path, body)
	}
	return out, nil
}

// levelOf is the number of the level that a sample of a time is of; ok is false where a rate reaches into the one before.
func levelOf(at time.Time) (number int64, ok bool) {
	return at.UnixNano() / int64(level), at.Sub(at.Truncate(level)) >= 4*time.Second
}

// comparison is what two servers answer at the same level.
type comparison struct {
	seen   map[string]bool
	values map[int64]bool
	worst  float64
}

// compare counts what both servers answer for a metric where both have read the same level. The error is of values that differ.
func (c *comparison) compare(e exposed, ours, theirs reading) error {
	at, settled := levelOf(theirs.Items[0].Timestamp)
	until, _ := levelOf(theirs.Items[0].Timestamp.Add(time.Second)) // It has no fraction of a second.
	other, same := levelOf(ours.Items[0].Timestamp)
	if !settled || !same || at != until || at != other {
		return nil
	}
	difference := math.Abs(float64(ours.milli-theirs.milli)) / float64(theirs.milli)
	c.seen[fmt.Sprintf("%s/%s/%d", e.namespace, e.name, at)], c.values[theirs.milli] = true, true
	c.worst = max(c.worst, difference)
	if !(difference <= 1e-9) || !maps.Equal(ours.Items[0].MetricLabels, map[string]string{e.label: e.value}) {
		return fmt.Errorf("%s of %s: %dm %+v, prometheus-adapter %dm %+v",
			e.metric, e.namespace, ours.milli, ours.Items, theirs.milli, theirs.Items)
	}
	return nil
}

// valuesAreEqual compares both servers' values of distinct metrics and levels.
func (s *stage) valuesAreEqual(t *testing.T, adapter string, compared []exposed) {
	t.Helper()
	c, begin := comparison{seen: map[string]bool{}, values: map[int64]bool{}}, time.Now()
	clustertest.MustEventually(t, func() string {
		var unread error
		for _, e := range compared {
			theirs, errTheirs := s.readBy(adapter, e)
			ours, errOurs := s.readBy(s.replicas[0].URL, e)
			if err := errors.Join(errTheirs, errOurs); err != nil {
				unread = err
			} else if err := c.compare(e, ours, theirs); err != nil {
				t.Fatal(err)
			}
		}
		if len(c.seen) < points {
			return fmt.Sprintf("%d points are compared, %v", len(c.seen), unread)
		}
		return ""
	})
	if len(c.values) < points/2 {
		t.Errorf("only %d of %d values differ from each other", len(c.values), len(c.seen))
	}
	t.Logf("%d points in %s: the largest difference is %.2g of the value", len(c.seen), time.Since(begin), c.worst)
}

// changesHands: HPAs go from prometheus-adapter to Forewarm and back, and the process in charge is killed at each step.
func (s *stage) changesHands(t *testing.T, adapter *clustertest.PrometheusAdapter) {
	t.Helper()
	s.allActive(t)
	defer s.guard(t, "deployments", "-n", "handed", "-o",
		`jsonpath={range .items[*]}{.metadata.name}={.spec.replicas} {end}`)()
	type process interface {
		Kill()
		Start(ctx context.Context) error
	}
	nothing, forewarm := func(context.Context) error { return nil }, s.replicas[0]
	for _, step := range []struct {
		name string
		do   func(context.Context) error
		// kill is who is killed right after it, and started again.
		kill process
	}{
		{"prometheus-adapter", nothing, adapter},
		{"Forewarm next to it", nothing, forewarm},
		{"handed over", adapter.HandOver, forewarm},
		{"handed over, and the other is gone", nothing, adapter},
		{"taken back", adapter.TakeBack, adapter},
		{"handed over without a fault", adapter.HandOver, nil},
		{"taken back without a fault", adapter.TakeBack, nil},
		{"taken back, and Forewarm is gone", nothing, forewarm},
	} {
		missed := s.missed(t)
		err := step.do(t.Context())
		if step.kill != nil && err == nil {
			step.kill.Kill()
			time.Sleep(2 * s.Sync) // Every HPA has asked once.
			err = step.kill.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * s.Sync)
		s.allActive(t)
		if now := s.missed(t); step.kill == nil && now != missed {
			t.Errorf("%s: HPAs missed their metric:\n%s\nbefore:\n%s", step.name, now, missed)
		}
		t.Logf("%s: %s", step.name,
			s.get(t, "apiservice", "v1beta1.external.metrics.k8s.io", "-o", "jsonpath={.spec.service.name}"))
	}
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
	clustertest.MustEventually(t, func() string {
		reasons := strings.Fields(s.get(t, "hpa", "-n", "handed", "-o",
			`jsonpath={range .items[*]}{.status.conditions[?(@.type=="ScalingActive")].reason} {end}`))
		active := slices.DeleteFunc(reasons, func(reason string) bool { return reason != found })
		if len(active) < handed {
			return fmt.Sprintf("%d of %d HPAs have their metric", len(active), handed)
		}
		return ""
	})
}
