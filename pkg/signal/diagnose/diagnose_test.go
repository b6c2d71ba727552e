package diagnose_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/diagnose"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// asks evaluates expressions at five minutes of a load.
func asks(t *testing.T, load string) diagnose.Ask {
	t.Helper()
	seen := map[string]bool{}
	var script strings.Builder
	script.WriteString("load 15s\n")
	for line := range strings.Lines(load) { // Each series once, without blank lines.
		if series, _, _ := strings.Cut(line, "} "); !seen[series] && strings.TrimSpace(line) != "" {
			seen[series] = true
			script.WriteString(line)
		}
	}
	storage := promqltest.LoadedStorage(t, script.String())
	t.Cleanup(func() {
		if err := storage.Close(); err != nil {
			t.Error(err)
		}
	})
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute})
	return func(expr, label string) (map[string]float64, error) {
		if len(expr) > 16<<10 {
			t.Errorf("%d bytes, more than VictoriaMetrics takes: %.200s", len(expr), expr)
		}
		query, err := engine.NewInstantQuery(t.Context(), storage, nil, expr, time.Unix(300, 0))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", expr, err)
		}
		defer query.Close()
		vector, err := query.Exec(t.Context()).Vector()
		out := map[string]float64{}
		for _, sample := range vector {
			of := sample.Metric.Get(label)
			if _, twice := out[of]; twice {
				t.Errorf("two series have %s=%q: %s", label, of, expr)
			}
			if strings.Contains(of, "secret") {
				t.Errorf("the answer names what is another namespace's: %q of %s", of, expr)
			}
			out[of] = sample.F
		}
		return out, err
	}
}

// inference is a Deployment chat-70b of three pods, a StatefulSet embed-large of one, and another tenant's Deployment.
const inference = `
  kube_pod_owner{namespace="inference",pod="chat-70b-5d4-a",owner_kind="ReplicaSet",owner_name="chat-70b-5d4"} 1x40
  kube_pod_owner{namespace="inference",pod="chat-70b-5d4-b",owner_kind="ReplicaSet",owner_name="chat-70b-5d4"} 1x40
  kube_pod_owner{namespace="inference",pod="chat-70b-5d4-c",owner_kind="ReplicaSet",owner_name="chat-70b-5d4"} 1x40
  kube_replicaset_owner{namespace="inference",replicaset="chat-70b-5d4",owner_kind="Deployment",owner_name="chat-70b"} 1x40
  kube_pod_owner{namespace="inference",pod="embed-large-0",owner_kind="StatefulSet",owner_name="embed-large"} 1x40
  kube_pod_owner{namespace="secret",pod="chat70b-77f-a",owner_kind="ReplicaSet",owner_name="chat70b-77f"} 1x40
  kube_replicaset_owner{namespace="secret",replicaset="chat70b-77f",owner_kind="Deployment",owner_name="chat70b-secret"} 1x40
  vllm:num_requests_running{namespace="secret",pod="chat70b-77f-a",instance="s"} 9x40
  vllm:num_requests_waiting{namespace="secret",pod="chat70b-77f-a",instance="s"} 9x40
`

// serves is what a server on some pods of namespace inference reports; running and waiting are the names of its metrics.
func serves(running, waiting string, pods ...string) string {
	var out strings.Builder
	for i, pod := range pods {
		for _, name := range []string{running, waiting} {
			if name != "" {
				fmt.Fprintf(
					&out,
					"  %s{namespace=\"inference\",pod=%q,instance=\"%d\",model_name=\"m\"} 3x40\n",
					name,
					pod,
					i,
				)
			}
		}
	}
	return out.String()
}

// The cause that people make is found, and said with what was found instead.
func TestDiagnosisOfPresets(t *testing.T) {
	const running, waiting = "vllm:num_requests_running", "vllm:num_requests_waiting"
	pods := []string{"chat-70b-5d4-a", "chat-70b-5d4-b", "chat-70b-5d4-c"}
	vllm := serves(running, waiting, pods...)
	strip := func(load, labels string) string { return strings.ReplaceAll(load, labels, "") }
	for name, c := range map[string]struct {
		load       string
		kind, name string // Deployment/chat70b by default
		namespace  string // inference by default
		preset     string // vllm/inflight by default
		check      string
		want       string
	}{
		"a name without its dash": {
			load: inference + vllm, check: "Source",
			want: "3 pods in namespace inference report vllm metrics, but none of them belongs to Deployment/chat70b. Did you mean chat-70b? Check spec.targetRef",
		},
		"a name that is cut": {
			load: inference + vllm, name: "chat", check: "Source",
			want: "none of them belongs to Deployment/chat. Did you mean chat-70b?",
		},
		"another kind": {
			load: inference + serves(running, waiting, "embed-large-0"), name: "embed-large", check: "Source",
			want: "1 pod in namespace inference reports vllm metrics, but none of them belongs to Deployment/embed-large. Did you mean StatefulSet/embed-large?",
		},
		"another kind, and a misspelled name": {
			load: inference + vllm, kind: "StatefulSet", name: "chat-70", check: "Source",
			want: "none of them belongs to StatefulSet/chat-70. Did you mean Deployment/chat-70b?",
		},
		"a name like none": {
			load: inference + vllm, name: "mixtral", check: "Source",
			want: "3 pods in namespace inference report vllm metrics, but none of them belongs to Deployment/mixtral; they belong to Deployment/chat-70b:",
		},
		"an InferenceService instead of its Deployment": {
			load: strings.ReplaceAll(inference, `owner_name="chat-70b"`, `owner_name="chat-70b-predictor"`) + vllm,
			kind: "InferenceService", name: "chat70b", check: "Source",
			want: "none of them belongs to InferenceService/chat70b. Did you mean chat-70b?",
		},
		"a pod without an owner": {
			load: inference + `  kube_pod_owner{namespace="inference",pod="bare",owner_kind="",owner_name=""} 1x40` + "\n" +
				serves(running, waiting, "bare"), name: "mixtral", check: "Source",
			want: "none of them belongs to Deployment/mixtral; they belong to no workload",
		},
		"the target's pods are not scraped, and others are": {
			load: inference + serves(running, waiting, "embed-large-0"), name: "chat-70b", check: "Source",
			want: "1 pod in namespace inference reports vllm metrics, but none of them belongs to Deployment/chat-70b, which has 3 other pods: check that they are scraped",
		},
		"no kube-state-metrics": {
			load: vllm, name: "chat-70b", check: "KubeStateMetrics",
			want: "3 pods in namespace inference report vllm metrics, but kube-state-metrics reports no owners (kube_pod_owner): install",
		},
		"no kube-state-metrics of this namespace": {
			load: without(`namespace="inference"`) + vllm, name: "chat-70b", check: "KubeStateMetrics",
			want: "kube-state-metrics reports no owners (kube_pod_owner) of pods in namespace inference, only of pods in other namespaces",
		},
		"no owners of ReplicaSets": {
			load: without("kube_replicaset_owner") + vllm, name: "chat-70b", check: "KubeStateMetrics",
			want: "3 pods in namespace inference report vllm metrics, but kube-state-metrics reports no owners of ReplicaSets (kube_replicaset_owner)",
		},
		"a shard of kube-state-metrics without the pods": {
			load: without("chat-70b") + vllm, name: "chat-70b", check: "KubeStateMetrics",
			want: "3 pods in namespace inference report vllm metrics, but kube-state-metrics reports no owners of them",
		},
		"a shard without one of the target's pods": {
			load: without("chat-70b-5d4-c") + vllm, name: "chat-70b", check: "KubeStateMetrics",
			want: "2 pods of Deployment/chat-70b report vllm metrics, but kube-state-metrics reports no owner of 1 other pod that reports them, too",
		},
		"no metrics of the server": {
			load: inference, name: "chat-70b", check: "Source",
			want: "no pod in namespace inference reports vllm metrics (vllm:num_requests_running, vllm:num_requests_waiting), although Deployment/chat-70b " +
				"has 3 pods: check that the server's metrics are scraped",
		},
		"no metrics of the server, and a misspelled name": {
			load: inference, check: "Source",
			want: "no pod in namespace inference reports vllm metrics (vllm:num_requests_running, vllm:num_requests_waiting), and no pod belongs to " +
				"Deployment/chat70b. Did you mean chat-70b?",
		},
		"nothing at all": {
			load: "  up 1x40\n", name: "chat-70b", check: "Source",
			want: "no pod in namespace inference reports vllm metrics (vllm:num_requests_running, vllm:num_requests_waiting), and kube-state-metrics " +
				"reports no owners (kube_pod_owner): install",
		},
		"another namespace": {
			load: inference + vllm, namespace: "inferenc", name: "chat-70b", check: "Source",
			want: "no pod in namespace inferenc reports vllm metrics (vllm:num_requests_running, vllm:num_requests_waiting), and kube-state-metrics " +
				"reports no owners (kube_pod_owner) of pods in namespace inferenc, only of pods in other namespaces: check the namespace of the Forecast",
		},
		"another server": {
			load: inference + serves("sglang:num_running_reqs", "sglang:num_queue_reqs", pods...), name: "chat-70b", check: "Source",
			want: "no pod in namespace inference reports vllm metrics (vllm:num_requests_running, vllm:num_requests_waiting), but 3 pods report " +
				"sglang metrics: use the preset sglang/inflight",
		},
		"one of two metrics": {
			load: inference + serves(running, "", pods...), name: "chat-70b", check: "Source",
			want: "3 pods of Deployment/chat-70b report vllm:num_requests_running, but not vllm:num_requests_waiting, which the preset vllm/inflight " +
				"also needs",
		},
		"no label pod": {
			load: inference + strip(serves(running, waiting, "x"), `pod="x",`), name: "chat-70b", check: "Labels",
			want: "1 series of vllm:num_requests_running in namespace inference has no label pod",
		},
		"no label namespace": {
			load: inference + strip(vllm, `namespace="inference",`), name: "chat-70b", check: "Labels",
			want: "no series of vllm:num_requests_running has the namespace inference, and 3 series have no namespace at all: make the scrape add the labels",
		},
		"exported_pod without exported_namespace": {
			load: inference + strings.NewReplacer(`namespace="inference",pod=`, `namespace="monitoring",pod="x",exported_pod=`).Replace(vllm),
			name: "chat-70b", check: "Labels",
			want: "3 series of vllm:num_requests_running have exported_pod without exported_namespace",
		},
		"reports of an exporter that is not named": {
			load: inference + exported(vllm, "observability", "proxy-0"), name: "chat-70b", check: "Exporters",
			want: "pods in 1 other namespace report metrics of pods in namespace inference, but Forewarm ignores " +
				"these metrics, because these pods are not trusted exporters: if they are",
		},
		"owners from an exporter that is not named": {
			load: exported(inference, "observability", "ksm-0") + vllm, name: "chat-70b", check: "Exporters",
			want: "3 pods in namespace inference report vllm metrics, but pods in 1 other namespace report metrics of pods in namespace inference",
		},
		"a misspelled name, and a stranger who reports our pods": {
			load: inference + vllm + exported(vllm, "mallory", "x-0"), check: "Source",
			want: "none of them belongs to Deployment/chat70b. Did you mean chat-70b?",
		},
		"two workloads that are as near, of which one reports": {
			load: inference + vllm + `  kube_pod_owner{namespace="inference",pod="chat70bb-0",owner_kind="ReplicaSet",owner_name="chat70bb-1"} 1x40
  kube_replicaset_owner{namespace="inference",replicaset="chat70bb-1",owner_kind="Deployment",owner_name="chat70bb"} 1x40
`, check: "Source",
			want: "none of them belongs to Deployment/chat70b. Did you mean chat-70b?",
		},
		"GPUs whose exporter reports no pods": {
			load: inference + `  DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="gpu-operator",pod="dcgm-x",UUID="GPU-1"} 0.5x40` + "\n",
			name: "chat-70b", preset: "dcgm/gpu-busy", check: "Source",
			want: "no pod in namespace inference reports dcgm metrics (DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO",
		},
		"a process that is no server": {
			load: inference + `  process_start_time_seconds{namespace="inference",pod="chat-70b-5d4-a",instance="0"} 3x40` + "\n",
			name: "chat-70b", check: "Source", want: "no pod in namespace inference reports vllm metrics",
		},
		"a gateway for other pods": {
			load: inference + `
  llm_d_epp_request_running{namespace="inference",pod="epp-0",instance="1"} 3x40
  llm_d_epp_per_endpoint_queue_size{namespace="inference",pod="epp-0",instance="1",model_server_endpoint="embed-large-0"} 3x40
`,
			name: "chat-70b", preset: "gateway/inflight", check: "Source",
			want: "1 pod in namespace inference reports gateway metrics, but none of them routes to pods of Deployment/chat-70b",
		},
	} {
		all := map[string]string{"as they are": c.load, "two clusters": clustered(c.load)}
		if !strings.Contains(c.load, "exported_") && c.check != "Labels" && c.preset == "" {
			all["scraped without honorLabels"] = exported(c.load, "monitoring", "exporter-0")
		}
		for how, load := range all {
			t.Run(name+"/"+how, func(t *testing.T) {
				q := diagnose.Query{
					Namespace: or(c.namespace, "inference"),
					Preset:    or(c.preset, "vllm/inflight"),
					Target: signal.Target{
						Kind: or(c.kind, "Deployment"),
						Name: or(c.name, "chat70b"),
					},
					Trust: signal.DefaultTrust(),
				}
				if how == "two clusters" {
					q.Trust.Cluster = "cluster=eu"
				}
				p, err := signal.Lookup(q.Preset)
				if err != nil {
					t.Fatal(err)
				}
				if q.Expr, err = p.Render(q.Namespace, q.Target, q.Trust); err != nil {
					t.Fatal(err)
				}
				ask := asks(t, load)
				value, err := ask(q.Expr, "")
				if err != nil || len(value) > 0 {
					t.Fatalf("the preset has a value: %v, %v", value, err)
				}
				got, err := q.Find(ask)
				if err != nil {
					t.Fatal(err)
				}
				if got.Check != c.check || !strings.Contains(got.String(), c.want) ||
					strings.Contains(got.String(), "secret") {
					t.Errorf("%s: %s\nwant %s: %s", got.Check, got, c.check, c.want)
				}
			})
		}
	}
}

// clustered is a load in cluster eu of a store that has another one, in which all is well.
func clustered(load string) string {
	us := inference + serves(
		"vllm:num_requests_running",
		"vllm:num_requests_waiting",
		"chat-70b-5d4-a",
		"chat-70b-5d4-b",
	)
	return strings.ReplaceAll(load, "{", `{cluster="eu",`) + strings.ReplaceAll(us, "{", `{cluster="us",`)
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// Of a user's own query the part is named that matches nothing, and the label by which it does not.
func TestDiagnosisOfQueries(t *testing.T) {
	const load = `
  requests{namespace="ai",pod="llama-1",model="a"} 3x40
  requests{namespace="ai",pod="llama-2",model="a"} 3x40
  limit{namespace="ai",model="b"} 3x40
  requests{namespace="secret",pod="secret-1",model="secret"} 3x40
  hidden{namespace="secret",pod="secret-1",model="secret"} 3x40
  gpu{namespace="monitoring",exported_namespace="ai",pod="x"} 3x40
`
	for query, want := range map[string]struct{ check, text string }{
		`sum(request)`:                                {"Source", `the query sum(request{namespace="ai"}) has no series: there is no series of request with namespace="ai": check the name`},
		`sum(hidden)`:                                 {"Source", `there is no series of hidden with namespace="ai"`},
		`sum(requests{model="c"})`:                    {"Labels", `no series of requests has model="c", but 2 series have the other labels: correct this label`},
		`sum(requests{pod="llama-1",model="b"})`:      {"Labels", `no series of requests has model="b", but 1 series has the other labels`},
		`sum(requests{pod="qwen",model="b"})`:         {"Labels", `2 series of requests exist, but none matches requests{`},
		`sum(requests{model="secret"})`:               {"Labels", `no series of requests has model="secret", but 2 series have the other labels`},
		`sum(gpu)`:                                    {"Labels", `no series of gpu has the namespace ai in the label namespace, but 1 series has it in exported_namespace: set honorLabels`},
		`sum(requests * on (model) group_left limit)`: {"Source", `has no series now, although each of its selectors has series: check the labels that join the parts`},
		`sum(requests) > 100`:                         {"Source", `each of its selectors has series`},
		`sum({__name__=~"req.+",model="c"})`:          {"Labels", `has model="c", but 2 series have the other labels`},
	} {
		expr, err := promexpr.Confine(query, "namespace", "ai", "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := diagnose.Query{Expr: expr, Namespace: "ai", TenantLabel: "namespace"}.Find(asks(t, load))
		if err != nil || got.Check != want.check || !strings.Contains(got.String(), want.text) {
			t.Errorf("%s\n is %s: %s, %v\nwant %s: %s", query, got.Check, got, err, want.check, want.text)
		}
		if model := strings.ReplaceAll(
			got.String(),
			"model=\"secret\"",
			"",
		); strings.Contains(model, "secret") &&
			!strings.Contains(query, "secret") {
			t.Errorf("%s names what is another namespace's: %s", query, got)
		}
	}
	got, err := diagnose.Query{Expr: `sum(requests{model="c"})`, Namespace: "free"}.Find(asks(t, load))
	if want := `no series of requests has model="c", but 3 series have`; err != nil ||
		!strings.Contains(got.String(), want) {
		t.Errorf("a query that is not confined: %s, %v; want %s", got, err, want)
	}
}

// exported is the same series as Prometheus stores them without honorLabels.
func exported(load, namespace, pod string) string {
	load = strings.ReplaceAll(load, `,pod="`, `,exported_pod="`)
	return strings.ReplaceAll(load, `namespace="`, `namespace="`+namespace+`",pod="`+pod+`",exported_namespace="`)
}

// without is inference without the lines that contain a text.
func without(text string) string {
	var kept []string
	for line := range strings.Lines(inference) {
		if !strings.Contains(line, text) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
