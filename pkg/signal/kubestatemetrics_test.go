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
