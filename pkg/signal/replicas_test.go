package signal_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/signal"
)

// readiness is what kube-state-metrics says of the pods of the other fixtures: one of Deployment llama is not ready.
const readiness = `
  kube_pod_status_ready{namespace="ai",pod="llama-7d9-a",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="llama-7d9-a",condition="false"} 0x40
  kube_pod_status_ready{namespace="ai",pod="llama-7d9-b",condition="true"} 0x40
  kube_pod_status_ready{namespace="ai",pod="llama-7d9-b",condition="false"} 1x40
  kube_pod_status_ready{namespace="ai",pod="llama-old-c",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="other-555-a",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="db-0",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="lws-0",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="lws-0-1",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="lws-1",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="p-raw",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="big-kserve-mn-0",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="big-kserve-mn-0-1",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="small-kserve-a",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="small-kserve-prefill-a",condition="true"} 1x40
  kube_pod_status_ready{namespace="prod",pod="llama-7d9-a",condition="true"} 1x40
`

func TestReadyReplicas(t *testing.T) {
	tests := []struct{ name, kind, target, want string }{
		{"of a Deployment, old ReplicaSets too", "Deployment", "llama", "{} 2"},
		{"of a StatefulSet", "StatefulSet", "db", "{} 1"},
		{"of a gang, by its leaders", "LeaderWorkerSet", "lws", "{} 2"},
		{"of an InferenceService", "InferenceService", "m.v1", "{} 1"},
		{"of KServe's LLM on one node", "LLMInferenceService", "small", "{} 1"},
		{"of KServe's LLM over several, by the leader", "LLMInferenceService", "big", "{} 1"},
		{"of a missing one", "Deployment", "missing", ""},
	}
	load := owners + viaDeployments + byLLM + readiness
	for how, scraped := range map[string]string{
		"honoured": load, "exported": exported(load, "monitoring", "ksm-0"), "twice": twice(load),
	} {
		for _, tt := range tests {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				expr, err := signal.ReadyReplicas("ai", signal.Target{Kind: tt.kind, Name: tt.target}, trust())
				if err != nil {
					t.Fatal(err)
				}
				evaluates(t, scraped, expectation{expr: expr, want: tt.want})
			})
		}
	}
}

func TestReadyReplicasOfWhatHasNone(t *testing.T) {
	for want, target := range map[string]signal.Target{
		"not the replicas of the Ray Serve deployments": {Kind: "RayService", Name: "chat"},
		"target name is empty":                          {Kind: "Deployment"},
	} {
		if _, err := signal.ReadyReplicas("ai", target, trust()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want it to say %q", target, err, want)
		}
	}
}

// Ready replicas without a sample are counted, however they are scraped; those that are not ready are not.
func TestSilent(t *testing.T) {
	const reports = `
  vllm:num_requests_running{namespace="ai",pod="llama-7d9-a",engine="0",model_name="m"} 3x40
  vllm:num_requests_waiting{namespace="ai",pod="llama-7d9-a",engine="0",model_name="m"} 1x40
`
	preset, err := signal.Lookup("vllm/inflight")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ kind, target, want string }{
		"one of two reports": {"Deployment", "llama", "{} 1"},
		"none reports":       {"StatefulSet", "db", "{} 1"},
		"missing":            {"Deployment", "missing", ""},
	} {
		target := signal.Target{Kind: c.kind, Name: c.target}
		expr, err := preset.Render("ai", target, trust())
		if err != nil {
			t.Fatal(err)
		}
		silent := signal.NotReporting(expr, "ai", target, trust())
		load := owners + viaDeployments + byLLM + readiness
		for how, scraped := range map[string]string{"honoured": load, "exported": exported(load, "monitoring", "ksm-0")} {
			t.Run(name+"/"+how,
				func(t *testing.T) { evaluates(t, scraped+reports, expectation{expr: silent, want: c.want}) })
		}
	}
	llama := signal.Target{Kind: "Deployment", Name: "llama"}
	if got := signal.NotReporting("sum(rate(requests_total[2m]))", "ai", llama, trust()); got != "" {
		t.Errorf("of a query that adds up no pods: %s", got)
	}
}

// documented is what kube-state-metrics documents of its series.
type documented struct {
	Metrics map[string]struct {
		Labels []string            `json:"labels"`
		Values map[string][]string `json:"values"`
	} `json:"metrics"`
}

func kubeStateMetrics(t *testing.T) documented {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "kube-state-metrics.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out documented
	if err := yaml.UnmarshalStrict(text, &struct {
		Source string `json:"source"`
		*documented
	}{documented: &out}); err != nil {
		t.Fatal(err)
	}
	return out
}

// problem is what a selector asks for that kube-state-metrics does not have.
func (d documented) problem(name string, matchers []*labels.Matcher) string {
	metric, known := d.Metrics[name]
	if !known {
		return "no metric " + name
	}
	for _, m := range matchers {
		// A scrape adds the namespace of its target, and with honorLabels: false renames the reported one.
		if m.Name == model.MetricNameLabel || strings.HasSuffix(m.Name, "namespace") {
			continue
		}
		has := slices.ContainsFunc(metric.Labels, func(l string) bool {
			match, err := path.Match(l, m.Name)
			return err == nil && match
		})
		if !has {
			return name + " has no label " + m.Name
		}
		values := metric.Values[m.Name]
		if len(values) > 0 && !slices.ContainsFunc(values, m.Matches) {
			return name + " never has " + m.String()
		}
	}
	return ""
}

// Every preset, for every kind of workload, asks kube-state-metrics for series that it has.
func TestPresetsAskForWhatKubeStateMetricsHas(t *testing.T) {
	all, asked := kubeStateMetrics(t), map[string]bool{}
	check := func(what, query string) {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			selector, ok := node.(*parser.VectorSelector)
			if !ok || !strings.HasPrefix(selector.Name, "kube_") {
				return nil
			}
			asked[selector.Name] = true
			if problem := all.problem(selector.Name, selector.LabelMatchers); problem != "" {
				t.Errorf("%s: %s", what, problem)
			}
			return nil
		})
	}
	for _, kind := range []string{"Deployment", "StatefulSet", "LeaderWorkerSet", "Rollout", "InferenceService", "Service", "Revision"} {
		target := signal.Target{Kind: kind, Name: "llama"}
		for _, p := range signal.Presets() {
			if expr, err := p.Render("ai", target, trust()); err == nil { // Not every preset fits every kind.
				check(p.Name+" of a "+kind, expr)
			}
		}
		if expr, err := signal.ReadyReplicas("ai", target, trust()); err == nil {
			check("ready replicas of a "+kind, expr)
		}
	}
	for name := range all.Metrics {
		if !asked[name] {
			t.Errorf("no preset asks for %s: remove it from the file", name)
		}
	}
}

// The series that the tests make up are series that kube-state-metrics could have.
func TestMadeSeriesAreLikeThoseOfKubeStateMetrics(t *testing.T) {
	all, seen := kubeStateMetrics(t), 0
	for _, line := range regexp.MustCompile(`kube_\w+\{[^}]*\}`).FindAllString(owners, -1) {
		matchers, err := parser.NewParser(parser.Options{}).ParseMetricSelector(line)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(line, "{")
		if problem := all.problem(name, matchers); problem != "" {
			t.Errorf("%s: %s", line, problem)
		}
		seen++
	}
	if seen < 10 {
		t.Errorf("only %d series were found", seen)
	}
}
