package signal_test

import (
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/signal"
)

// Whatever a namespace and a target are called, a rendered preset reads that namespace and no other.
func FuzzRender(f *testing.F) {
	f.Add("ai", "Deployment", "llama")
	f.Add(`a"}`, `K"\`, `x"} or vector(1) or up{a="`)
	f.Add("a", "LeaderWorkerSet", `.*|b$1\`)
	f.Add("a", "InferenceService", `x)|(.*`)
	f.Add("a", "RayService", `"} or up{a=~"`)
	f.Add("a", "Service", `\Q.*`)
	f.Add("a", "Revision", `\E`)
	p := parser.NewParser(parser.Options{})
	f.Fuzz(func(t *testing.T, namespace, kind, name string) {
		for _, preset := range signal.Presets() {
			expr, err := preset.Render(namespace, signal.Target{Kind: kind, Name: name}, trust())
			if err != nil {
				continue
			}
			root, err := p.ParseExpr(expr)
			if err != nil {
				t.Fatalf("%s: %v", expr, err)
			}
			for _, matchers := range parser.ExtractSelectors(root) {
				if !reads(matchers, namespace) && !ofNodes(matchers) {
					t.Fatalf("%s: %v reads other namespaces than %q", expr, matchers, namespace)
				}
				if namespace != "mallory" && admits(matchers, "mallory") {
					t.Fatalf("%s: %v believes a namespace that is no exporter's", expr, matchers)
				}
			}
		}
	})
}

// reads says that the matchers let through only series whose namespace, or else exported_namespace, is the given one.
func reads(matchers []*labels.Matcher, namespace string) bool {
	equal := map[string]string{}
	for _, m := range matchers {
		if m.Type == labels.MatchEqual {
			equal[m.Name] = m.Value
		}
	}
	exported, ok := equal["exported_namespace"]
	return ok && (exported == namespace || exported == "" && equal["namespace"] == namespace)
}

// admits says that the matchers let through series that were scraped from a namespace.
func admits(matchers []*labels.Matcher, namespace string) bool {
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool {
		return m.Name == "namespace" && !m.Matches(namespace)
	})
}

// ofNodes says that the matchers let through nothing but the labels of nodes, which are in no namespace.
func ofNodes(matchers []*labels.Matcher) bool {
	return slices.ContainsFunc(matchers, func(m *labels.Matcher) bool {
		return m.Type == labels.MatchEqual && m.Name == "__name__" && m.Value == "kube_node_labels"
	})
}
