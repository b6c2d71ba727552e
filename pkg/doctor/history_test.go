package doctor //nolint:testpackage // One check of many, without a cluster.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// loaded is how long the series of a load last, and so when it is now: three hours in steps of a minute.
const loaded = 3 * time.Hour

// reply writes an answer.
func reply(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, format, args...) //nolint:errcheck // The client may have hung up.
}

// serveSeries answers queries by Prometheus' own engine and storage; its clock is ahead by skew.
func serveSeries(t *testing.T, load string, skew time.Duration) *httptest.Server {
	t.Helper()
	var script strings.Builder
	script.WriteString("load 1m\n") // A blank line would end it.
	for line := range strings.Lines(load) {
		if line = strings.TrimSpace(line); line != "" {
			script.WriteString("  " + line + "\n")
		}
	}
	storage := promqltest.LoadedStorage(t, script.String())
	t.Cleanup(func() { storage.Close() }) //nolint:errcheck // A test's own.
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e7, Timeout: 10 * time.Second})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("query") == "time()" {
			at := time.Unix(0, 0).Add(loaded + skew).Unix()
			reply(w,
				`{"status":"success","data":{"resultType":"scalar","result":[%d,"%[1]d"]}}`,
				at,
			)
			return
		}
		number := func(name string) float64 {
			v, err := strconv.ParseFloat(r.FormValue(name), 64)
			if err != nil {
				t.Error(err)
			}
			return v
		}
		at := func(name string) time.Time { return time.UnixMilli(int64(1000 * number(name))) }
		if r.URL.Path == "/api/v1/query" {
			query, err := engine.NewInstantQuery(context.WithoutCancel(r.Context()), storage, nil,
				r.FormValue("query"), at("time"))
			if err != nil {
				t.Error(err)
				return
			}
			defer query.Close()
			vector, err := query.Exec(r.Context()).Vector()
			if err != nil {
				t.Error(err)
			}
			samples := []string{}
			for _, s := range vector {
				labels, _ := json.Marshal(s.Metric) //nolint:errcheck,errchkjson // Labels are strings.
				samples = append(samples, fmt.Sprintf(`{"metric":%s,"value":[0,"%v"]}`, labels, s.F))
			}
			reply(w,
				`{"status":"success","data":{"resultType":"vector","result":[%s]}}`,
				strings.Join(samples, ","),
			)
			return
		}
		step := time.Duration(number("step") * float64(time.Second))
		query, err := engine.NewRangeQuery(context.WithoutCancel(r.Context()), storage, nil, r.FormValue("query"),
			at("start"), at("end"), step)
		if err != nil {
			t.Error(err)
			return
		}
		defer query.Close()
		matrix, err := query.Exec(r.Context()).Matrix()
		if err != nil {
			t.Error(err)
		}
		reply(w,
			`{"status":"success","data":{"resultType":"matrix","result":[%s]}}`,
			encode(matrix),
		)
	}))
	t.Cleanup(server.Close)
	return server
}

func encode(matrix promql.Matrix) string {
	var all []string
	for _, s := range matrix {
		var points []string
		for _, p := range s.Floats {
			points = append(points, fmt.Sprintf(`[%d,"%v"]`, p.T/1000, p.F))
		}
		all = append(all, `{"metric":{},"values":[`+strings.Join(points, ",")+`]}`)
	}
	return strings.Join(all, ",")
}

func forecastOf(signal v1alpha1.Signal) v1alpha1.Forecast {
	return v1alpha1.Forecast{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ai", Name: "llama"},
		Spec: v1alpha1.ForecastSpec{
			TargetRef: v1alpha1.TargetRef{Kind: "Deployment", Name: "llama"}, Signal: signal,
			Step: "1m", History: "2h", Seasons: []v1alpha1.Duration{"1h"},
			LeadTime: &v1alpha1.LeadTime{Mode: v1alpha1.LeadTimeFixed, Duration: "5m"},
		},
	}
}

const (
	ownersSeries = `
  kube_pod_owner{namespace="ai",pod="llama-7d9-a",owner_kind="ReplicaSet",owner_name="llama-7d9"} 1x180
  kube_replicaset_owner{namespace="ai",replicaset="llama-7d9",owner_kind="Deployment",owner_name="llama"} 1x180
  kube_pod_status_ready{namespace="ai",pod="llama-7d9-a",condition="true"} 1x180
`
	// pod are the labels of the workload's pod, as a PodMonitor adds them.
	pod = `namespace="ai",pod="llama-7d9-a",instance="10.0.0.1:80"`
)

// vllm is the two series of the preset vllm/inflight with some labels.
func vllm(labels, running string) string {
	return fmt.Sprintf(`
  vllm:num_requests_running{%s,engine="0",model_name="m"} %s
  vllm:num_requests_waiting{%s,engine="0",model_name="m"} 0x180
`, labels, running, labels)
}

// Each way in which a source is broken is found by what Prometheus' own engine answers, with what to do; a healthy one is not
// warned of.
func TestHistory(t *testing.T) {
	t.Parallel()
	inflight := v1alpha1.Signal{Preset: "vllm/inflight"}
	requests := v1alpha1.Signal{Query: `sum(requests{pod=~"llama-.*"})`}
	for _, c := range []struct {
		name, load string
		signal     v1alpha1.Signal
		skew       time.Duration
		check      string // empty where nothing is wrong
		level      Level
		words      []string
	}{
		{name: "a preset that works", load: ownersSeries + vllm(pod, "3x180"), signal: inflight},
		{name: "a query that works", load: `requests{namespace="ai",pod="llama-1"} 3x180`, signal: requests},
		{
			name: "two scrapes, of which a preset counts one", signal: inflight,
			load:  ownersSeries + vllm(pod+`,job="a"`, "3x180") + vllm(pod+`,job="b"`, "3x180"),
			check: "Labels", level: Warning, words: []string{"several jobs", "the pods llama-7d9-a", "keep one"},
		},
		{
			name: "another namespace's reports, which do not count", signal: inflight,
			load: ownersSeries + vllm(pod, "3x180") +
				vllm(`exported_namespace="ai",exported_pod="llama-7d9-a",namespace="mallory",pod="x"`, "9x180"),
			check: "Exporters", level: Warning, words: []string{"pods in other namespaces (mallory) report metrics " +
				"about pods in namespace ai", "--exporter-namespaces"},
		},
		{
			name: "reports that would count, from an exporter that is not named", signal: inflight,
			load:  ownersSeries + vllm(`exported_namespace="ai",exported_pod="llama-7d9-a",namespace="proxies",pod="x"`, "3x180"),
			check: "Exporters", level: Error, words: []string{"pods in other namespaces (proxies) report metrics " +
				"about pods in namespace ai", "--exporter-namespaces"},
		},
		{
			name: "two clusters", signal: inflight,
			load: strings.ReplaceAll(ownersSeries+vllm(pod, "3x180"), "{", `{cluster="eu",`) +
				strings.ReplaceAll(ownersSeries, "{", `{cluster="us",`),
			check: "Clusters", level: Warning, words: []string{"eu", "us", "--cluster"},
		},
		{
			name: "honorLabels false, which a preset knows", signal: inflight,
			load: ownersSeries + vllm(`exported_namespace="ai",exported_pod="llama-7d9-a",namespace="monitoring",pod="x"`, "3x180"),
		},
		{
			name: "no kube-state-metrics", load: vllm(pod, "3x180"), signal: inflight,
			check: "KubeStateMetrics", level: Error, words: []string{"reports no owners (kube_pod_owner)", "install kube-state-metrics"},
		},
		{
			name: "kube-state-metrics of other namespaces", signal: inflight,
			load:  strings.ReplaceAll(ownersSeries, `"ai"`, `"prod"`) + vllm(pod, "3x180"),
			check: "KubeStateMetrics", level: Error, words: []string{"no owners (kube_pod_owner) of pods in namespace ai, only of pods in other namespaces"},
		},
		{
			name: "exported_pod without exported_namespace", signal: inflight, check: "Labels", level: Error,
			load:  ownersSeries + vllm(`exported_pod="llama-7d9-a",namespace="monitoring",pod="x"`, "3x180"),
			words: []string{"exported_pod without exported_namespace", "honorLabels: true"},
		},
		{
			name: "no namespace", load: ownersSeries + vllm(`pod="llama-7d9-a"`, "3x180"), signal: inflight,
			check: "Labels", level: Error, words: []string{"no series of vllm:num_requests_running has the namespace ai", "PodMonitor"},
		},
		{
			name: "no pod", load: ownersSeries + vllm(`namespace="ai"`, "3x180"), signal: inflight,
			check: "Labels", level: Error, words: []string{"no label pod"},
		},
		{
			name: "another server", load: ownersSeries + "\nsglang:num_running_reqs{" + pod + "} 3x180", signal: inflight,
			check: "Source", level: Error, words: []string{"reports vllm metrics", "1 pod reports sglang metrics", "sglang/inflight"},
		},
		{
			name: "another workload", signal: inflight,
			load: ownersSeries + `  kube_pod_owner{namespace="ai",pod="qwen-1",owner_kind="StatefulSet",owner_name="qwen"} 1x180` +
				vllm(`namespace="ai",pod="qwen-1"`, "3x180"),
			check: "Source", level: Error, words: []string{"none of them belongs to Deployment/llama, which has 1 other pod"},
		},
		{
			name: "a query on labels that are exported", signal: requests, check: "Labels", level: Error,
			load:  `requests{namespace="monitoring",pod="x",exported_namespace="ai",exported_pod="llama-1"} 3x180`,
			words: []string{"exported_namespace", "honorLabels: true"},
		},
		{
			name: "a query on other labels", load: `requests{namespace="ai",pod="qwen-1"} 3x180`, signal: requests,
			check: "Labels", level: Error, words: []string{"no series of requests has pod=~", "1 series has the other labels"},
		},
		{
			name: "a query on no metric", load: `up 1x180`, signal: requests,
			check: "Source", level: Error, words: []string{"no series of requests"},
		},
		{
			name: "two scrapes, which a query counts twice", signal: requests, check: "Labels", level: Warning,
			load: `
  requests{namespace="ai",pod="llama-1",job="a"} 3x180
  requests{namespace="ai",pod="llama-1",job="b"} 3x180`,
			words: []string{"2 series", "2 times", "remove one of the scrape jobs"},
		},
		{
			name: "a short history", load: `requests{namespace="ai",pod="llama-1"} _x150 3x30`, signal: requests,
			check: "History", level: Warning, words: []string{"less than", "retention"},
		},
		{
			name: "gaps", load: `requests{namespace="ai",pod="llama-1"} 3x80 _x60 3x39`, signal: requests,
			check: "Gaps", level: Warning, words: []string{"1970-01-01 01:2", "1970-01-01 02:20", "scraped"},
		},
		{
			name: "silent zeros", load: ownersSeries + vllm(pod, "0x180"), signal: inflight,
			check: "Zeros", level: Warning, words: []string{"replicas of Deployment/llama are ready", "another signal"},
		},
		{
			name: "zeros of a workload without replicas", signal: inflight,
			load: strings.ReplaceAll(ownersSeries, `condition="true"} 1x180`, `condition="true"} 0x180`) + vllm(pod, "0x180"),
		},
		{name: "zeros of a night", load: ownersSeries + vllm(pod, "3x90 0x90"), signal: inflight},
		{
			name: "a clock that is ahead", load: `requests{namespace="ai",pod="llama-1"} 3x180`, signal: requests, skew: time.Hour,
			check: "Clocks", level: Warning, words: []string{"the Prometheus", "1h0m0s ahead", "NTP"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := serveSeries(t, c.load, c.skew)
			d := &Doctor{Config: Config{
				Prometheus: prometheus.Config{URL: server.URL},
				Now:        func() time.Time { return time.Unix(0, 0).Add(loaded) },
			}}
			s := &state{forecasts: []v1alpha1.Forecast{forecastOf(c.signal)}}
			expectOne(t, checkHistory(t.Context(), d, s), c.check, c.level, c.words...)
		})
	}
}

// expectOne wants the one finding that is not OK, with words; none where the check is empty.
func expectOne(t *testing.T, all []Finding, check string, level Level, words ...string) {
	t.Helper()
	var bad []Finding
	for _, f := range all {
		if f.Level != OK {
			bad = append(bad, f)
		}
	}
	if check == "" {
		if len(bad) > 0 {
			t.Errorf("nothing is wrong, and yet: %+v", bad)
		}
		return
	}
	if len(bad) != 1 || bad[0].Check != check || bad[0].Level != level || bad[0].Remedy == "" {
		t.Fatalf("want one %s of %s with a remedy, got %+v", level, check, bad)
	}
	for _, word := range words {
		if !strings.Contains(bad[0].Object+bad[0].Message+" "+bad[0].Remedy, word) {
			t.Errorf("%q is not in %+v", word, bad[0])
		}
	}
}

func TestNoPrometheus(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	s := &state{args: map[string]string{"prometheus-url": "http://me:secret@prometheus:9090"}}
	d := &Doctor{Config: Config{Prometheus: prometheus.Config{URL: gone.URL}, Now: time.Now}}
	expectOne(t, checkHistory(t.Context(), d, s), "Source", Error, "does not answer", "port-forward")
	d.Prometheus.URL = ""
	all := checkHistory(t.Context(), d, s)
	expectOne(
		t,
		all,
		"History",
		Skipped,
		"did not check",
		"--prometheus",
		"Forewarm itself reads http://prometheus:9090",
	)
}
