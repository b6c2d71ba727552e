package promexpr

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Labeled is one query for the values of several expressions without labels: a label tells them apart by their names. It is empty where
// all expressions are.
func Labeled(label string, of map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if expr := of[name]; expr != "" {
			parts = append(parts, fmt.Sprintf(`label_replace(%s, %q, %q, "", "")`, expr, label, name))
		}
	}
	return strings.Join(parts, " or ")
}

// Parts is the series of several expressions, which the label part tells apart by their number.
func Parts(of ...string) string {
	parts := make([]string, len(of))
	for i, expr := range of {
		parts[i] = fmt.Sprintf(`label_replace(%s, "part", "%d", "", "")`, expr, i)
	}
	return strings.Join(parts, " or ")
}

// Copies is PromQL for how often a query adds up one scrape: the number of jobs that report what it adds up at one address, or of targets
// that a job has there; no series where the query adds up nothing. up is the metric that Prometheus records for each target, confined as
// the query is. It is empty where the greatest of copies is taken before they are added up, or nothing is added up.
func Copies(query string, up func(string) (string, error)) string {
	root, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return ""
	}
	targets, err := up("up")
	if err != nil {
		return ""
	}
	var parts []string
	for _, added := range addedUp(root, false) {
		s := &parser.VectorSelector{Name: added.Name, LabelMatchers: append(slices.Clone(added.LabelMatchers),
			labels.MustNewMatcher(labels.MatchNotEqual, "instance", ""))}
		parts = append(parts, fmt.Sprintf(`max(count by (instance) (group by (job, instance) (%s)))`, s),
			fmt.Sprintf(`max(count by (job, instance, metrics_path) (%s and on (job, instance) %s))`, targets, s))
	}
	if len(parts) == 0 {
		return ""
	}
	return "max(" + Parts(parts...) + ")"
}

// addedUp returns the selectors whose series a sum adds up without an operation in between that selects one of several.
func addedUp(node parser.Expr, inSum bool) (out []*parser.VectorSelector) {
	switch n := node.(type) {
	case *parser.VectorSelector:
		if inSum {
			return []*parser.VectorSelector{n}
		}
	case *parser.AggregateExpr:
		if n.Op == parser.SUM || n.Op == parser.COUNT {
			return addedUp(n.Expr, true)
		}
		return nil
	case *parser.SubqueryExpr:
		return addedUp(n.Expr, inSum)
	default:
		for child := range parser.ChildrenIter(node) {
			if expr, ok := child.(parser.Expr); ok {
				out = append(out, addedUp(expr, inSum)...)
			}
		}
	}
	return out
}

// SamplesInWindow is PromQL for how many samples the series of a query's rates have in their window, in the median; empty for a query
// without a rate. A rate needs two, and one more for each scrape that may be missed.
func SamplesInWindow(query string) string {
	root, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return ""
	}
	var counts []string
	parser.Inspect(root, func(node parser.Node, _ []parser.Node) error {
		call, ok := node.(*parser.Call)
		if !ok || !slices.Contains([]string{"rate", "irate", "increase"}, call.Func.Name) {
			return nil
		}
		if window, ok := call.Args[0].(*parser.MatrixSelector); ok {
			if count := "count_over_time(" + window.String() + ")"; !slices.Contains(counts, count) {
				counts = append(counts, count)
			}
		}
		return nil
	})
	slices.SortFunc(counts, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	if len(counts) == 0 {
		return ""
	}
	const most = 4 // Both halves of a preset's metric, in two spellings, are enough to know the scrape interval.
	return "quantile(0.5, " + strings.Join(counts[:min(most, len(counts))], " or ") + ")"
}
