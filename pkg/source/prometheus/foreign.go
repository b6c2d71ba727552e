package prometheus

import (
	"fmt"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// foreign returns what is wrong with the labels of an answer: "" where they fit the query. If every selector of the
// query wants namespace="a" (that of a tenant does), an answer with namespace="b" is another tenant's: of a proxy, a
// cache or a server that confuses them. Most answers are totals without labels, which cannot be checked.
func foreign(expr string, metric model.Metric) string {
	if len(metric) == 0 {
		return ""
	}
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return "" // The server may know more than this parser.
	}
	for name, want := range requiredLabels(root) {
		if got, ok := metric[model.LabelName(name)]; ok && string(got) != want {
			return fmt.Sprintf("%s=%q, the query wants %q", name, got, want)
		}
	}
	return ""
}

// requiredLabels are the labels that every selector wants with the same value. Where a function writes labels there are
// none.
func requiredLabels(root parser.Expr) map[string]string {
	required, first, writes := map[string]string{}, true, false
	parser.Inspect(root, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.Call:
			writes = writes || slices.Contains([]string{"label_replace", "label_join", "info"}, n.Func.Name)
		case *parser.AggregateExpr:
			writes = writes || n.Op == parser.COUNT_VALUES
		case *parser.VectorSelector:
			own := equalities(n)
			if first {
				required, first = own, false
			}
			for name, value := range required {
				if own[name] != value {
					delete(required, name)
				}
			}
		}
		return nil
	})
	if writes {
		return nil
	}
	return required
}

// equalities are the labels that a selector wants with a value, without the name of the metric, which functions drop.
func equalities(s *parser.VectorSelector) map[string]string {
	out := map[string]string{}
	for _, m := range s.LabelMatchers {
		if m.Type == labels.MatchEqual && m.Value != "" && m.Name != model.MetricNameLabel {
			out[m.Name] = m.Value
		}
	}
	return out
}
