// Package promexpr works on the text of PromQL expressions, and knows no preset. [Confine] limits a tenant's own query to the
// tenant's namespace; [Parse] only checks it, for tenants that may read the whole cluster. [Split] and [Join] make one query
// of several. Nothing here runs a query.
package promexpr

import (
	"fmt"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// Confine returns the tenant's expression with the matcher label="namespace" on every selector, and the cluster's if
// there is one, so that it reads only series of its own namespace. The result is in Prometheus's own format.
//
// An expression that cannot be confined is refused: another matcher on the label, functions that read series without a
// selector (info), and every unknown construct. Errors wrap series.ErrQuery and have an alternative.
func Confine(expr, label, namespace string, cluster Cluster) (string, error) {
	if label == "" || label == model.MetricNameLabel || namespace == "" {
		return "", fmt.Errorf(
			"query: cannot confine the query to %s=%q: a label other than %s and a namespace are needed: %w",
			label,
			namespace,
			model.MetricNameLabel,
			series.ErrQuery,
		)
	}
	root, err := Parse(expr)
	if err != nil {
		return "", err
	}
	namespaceIs, err := labels.NewMatcher(labels.MatchEqual, label, namespace)
	if err != nil {
		return "", fmt.Errorf("query: matcher %s=%q: %w: %w", label, namespace, err, series.ErrQuery)
	}
	bounds := []*labels.Matcher{namespaceIs}
	if cluster != "" {
		clusterIs, err := cluster.matcher()
		if err != nil {
			return "", fmt.Errorf("query: %w: %w", err, series.ErrQuery)
		}
		bounds = append(bounds, clusterIs)
	}
	for _, own := range bounds {
		if err := walkSelectors(root, func(s *parser.VectorSelector) error { return addMatcher(s, own) }); err != nil {
			return "", err
		}
	}
	confined := root.String()
	for _, own := range bounds {
		if err := verifyConfined(confined, own); err != nil {
			return "", err
		}
	}
	return confined, nil
}

// IsRate reports whether the expression is a rate (it has rate, irate or increase), so that its observed value is a
// mean. An expression that does not parse is not a rate.
func IsRate(expr string) bool {
	root, err := Parse(expr)
	if err != nil {
		return false
	}
	found := false
	parser.Inspect(root, func(node parser.Node, _ []parser.Node) error {
		if call, ok := node.(*parser.Call); ok {
			found = found || slices.Contains([]string{"rate", "irate", "increase"}, call.Func.Name)
		}
		return nil
	})
	return found
}

// IsAverage reports whether the outermost operation of a query is an average: that is no total.
func IsAverage(query string) bool {
	root, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return false
	}
	for inner, ok := root.(*parser.ParenExpr); ok; inner, ok = root.(*parser.ParenExpr) {
		root = inner.Expr
	}
	aggregate, ok := root.(*parser.AggregateExpr)
	return ok && aggregate.Op == parser.AVG
}

// addMatcher adds the matcher to the selector, unless the selector already has it. Another matcher on the same label is an error, because
// replacing it silently would answer a different query. A rendered preset may stay as it is: what it reads from exporters is limited to the
// namespace, and then only an exporter in the namespace remains.
func addMatcher(s *parser.VectorSelector, own *labels.Matcher) error {
	present := false
	for _, m := range s.LabelMatchers {
		if m.Name != own.Name {
			continue
		}
		if m.Type == labels.MatchRegexp && m.Matches(own.Value) &&
			has(s, model.ExportedLabelPrefix+own.Name, own.Value) {
			continue
		}
		if m.Type != labels.MatchEqual || m.Value != own.Value {
			return refuseNode(
				s,
				"the matcher %s is not allowed, because queries are confined to %s: remove the matcher, or ask the operator "+
					"to add the namespace to --cluster-query-namespaces",
				clip(m.String()),
				own,
			)
		}
		present = true
	}
	if !present {
		s.LabelMatchers = append(s.LabelMatchers, own)
	}
	return nil
}

// has reports whether the selector requires that a label has a value.
func has(s *parser.VectorSelector, label, value string) bool {
	return slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool {
		return m.Name == label && m.Type == labels.MatchEqual && m.Value == value
	})
}

// verifyConfined parses the confined expression again, like an engine will, and checks that every selector has the matcher. If PromQL's
// printer and parser disagree on a construct, the expression is rejected.
func verifyConfined(confined string, own *labels.Matcher) error {
	root, err := Parse(confined)
	if err != nil {
		return fmt.Errorf(
			"query: the query cannot be parsed after it was confined to the namespace: simplify the query: %w",
			err,
		)
	}
	if root.String() != confined {
		return fmt.Errorf(
			"query: the query, confined to the namespace, changes when it is parsed again: simplify the query: %w",
			series.ErrQuery,
		)
	}
	return walkSelectors(root, func(s *parser.VectorSelector) error {
		if has(s, own.Name, own.Value) {
			return nil
		}
		return refuseNode(s, "it cannot be confined to %s: simplify it", own)
	})
}
