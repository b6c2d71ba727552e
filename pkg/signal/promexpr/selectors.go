package promexpr

import (
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// Selectors returns the selectors of an expression without offsets. Each selector is returned once.
func Selectors(expr string) []*parser.VectorSelector {
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return nil
	}
	var out []*parser.VectorSelector
	parser.Inspect(root, func(node parser.Node, _ []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok {
			plain := &parser.VectorSelector{Name: v.Name, LabelMatchers: v.LabelMatchers}
			if !slices.ContainsFunc(out, func(o *parser.VectorSelector) bool { return o.String() == plain.String() }) {
				out = append(out, plain)
			}
		}
		return nil
	})
	return out
}

// Names returns the metric names that a selector selects, with each spelling of a name.
func Names(s *parser.VectorSelector) []string {
	for _, m := range s.LabelMatchers {
		if m.Name == model.MetricNameLabel {
			return strings.Split(m.Value, "|")
		}
	}
	return []string{s.Name}
}
