package neighbours_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// shown is a series that the model servers, exporters and gateways show, so that each preset has one.
type shown struct {
	name string
	// fixed are labels that a preset asks for, in the text format: `request_type="waiting"`.
	fixed string
	// counter: it grows by a hundred times the load in a second. Otherwise it is the load.
	counter bool
	// share of the load: less than 1 where a histogram's bucket does not have all requests.
	share float64
	// endpoint is the label with the pod in a series that a gateway's picker reports of each endpoint.
	endpoint string
	// picker: a gateway's picker reports it of the whole pool.
	picker bool
}

// presets are all queries of the catalogue by name: of demand, and of the share that waited too long. A new preset is among them. Those of
// Dynamo are not: their series come from the frontend of the workload, which the cluster does not have.
func presets(t *testing.T) map[string]signal.Preset {
	t.Helper()
	out := map[string]signal.Preset{}
	for _, source := range signal.Sources() {
		if source.Name == "dynamo" {
			continue
		}
		for _, p := range source.Presets {
			out[p.Name] = p
		}
		for _, p := range source.Lateness {
			late, err := signal.LookupLateness(p.Name, signal.DefaultWait)
			if err != nil {
				t.Fatal(err)
			}
			out[p.Name] = late
		}
	}
	return out
}

// render is a preset's query for a workload in one of the clusters, as Forewarm runs it.
func render(t *testing.T, p signal.Preset, target signal.Target, cluster string) string {
	t.Helper()
	trust := signal.DefaultTrust()
	trust.Cluster = promexpr.Cluster("cluster=" + cluster)
	expr, err := p.Render("ai", target, trust)
	if err != nil {
		t.Fatal(err)
	}
	return expr
}

// seriesOf are the series that the presets read in addition to those of kube-state-metrics, each once.
func seriesOf(t *testing.T, all map[string]signal.Preset) (out []shown) {
	t.Helper()
	for name, p := range all {
		root, err := parser.NewParser(parser.Options{}).
			ParseExpr(render(t, p, signal.Target{Kind: "Deployment", Name: "TARGET"}, "any"))
		if err != nil {
			t.Fatal(err)
		}
		parser.Inspect(root, func(node parser.Node, path []parser.Node) error {
			selector, ok := node.(*parser.VectorSelector)
			if !ok || strings.HasPrefix(selector.Name, "kube_") {
				return nil
			}
			base := shown{name: nameOf(selector), share: 1, picker: strings.HasPrefix(name, "gateway/")}
			base.around(path)
			for _, s := range base.matching(t, selector.LabelMatchers) {
				if !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
			return nil
		})
	}
	return out
}

// nameOf is a selector's metric. Of the names that versions of a server have, it is the first.
func nameOf(selector *parser.VectorSelector) string {
	if selector.Name != "" {
		return selector.Name
	}
	for _, m := range selector.LabelMatchers {
		if m.Name == model.MetricNameLabel {
			name, _, _ := strings.Cut(m.Value, "|")
			return name
		}
	}
	return ""
}

// bounded is the part of the load that a series shows whose values are shares of a device, at most 1.
const bounded = 1. / 200

// around reads what stands around a selector: the range function, the label of an endpoint by which it is aggregated, and the highest value
// that the preset accepts.
func (s *shown) around(path []parser.Node) {
	for _, node := range path {
		switch n := node.(type) {
		case *parser.Call:
			s.counter = s.counter || n.Func.Name == "rate"
		case *parser.BinaryExpr:
			if most, ok := n.RHS.(*parser.NumberLiteral); ok && n.Op == parser.LTE && most.Val == 1 {
				s.share = bounded
			}
		case *parser.AggregateExpr:
			for _, label := range n.Grouping {
				if strings.HasPrefix(label, "model_server_") {
					s.endpoint, s.picker = label, false
				}
			}
		}
	}
}

// matching are the series with the labels that a selector asks for: one for each value of a regular expression.
func (s *shown) matching(t *testing.T, matchers []*labels.Matcher) []shown {
	t.Helper()
	out := []shown{*s}
	for _, m := range matchers {
		if slices.Contains([]string{model.MetricNameLabel, "namespace", "exported_namespace", "cluster"}, m.Name) ||
			m.Value == "" ||
			m.Value == "TARGET" {
			continue
		}
		values := []string{m.Value}
		if m.Type == labels.MatchRegexp {
			if values = strings.Split(m.Value, "|"); m.Name == labels.BucketLabel {
				values = []string{"30", "30000"} // In seconds, and in milliseconds.
			}
			values = slices.DeleteFunc(values, func(v string) bool { return !m.Matches(v) })
		}
		if len(values) == 0 {
			t.Fatalf("no value is known that %s of %s matches", m, s.name)
		}
		var with []shown
		for _, before := range out {
			for _, v := range values[:min(len(values), 2)] {
				next := before
				if m.Name == labels.BucketLabel {
					values = values[:1]
					if v != "+Inf" {
						next.share = 0.75
					}
				}
				next.fixed += "," + m.Name + `="` + v + `"`
				with = append(with, next)
			}
		}
		out = with
	}
	return out
}
