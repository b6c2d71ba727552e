package signal

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// Confine is the tenant's expression with label="namespace" required of every series that it reads, so that it sees
// its own namespace's series and no others. The answer is the expression in Prometheus's own spelling.
//
// What cannot be confined is refused rather than guessed at: a matcher on the label that says anything else, functions
// that read series behind the selectors' back (info), and every construct that is not understood. Errors wrap
// series.ErrQuery and say what to write instead.
func Confine(expr, label, namespace string) (string, error) {
	if label == "" || label == model.MetricNameLabel || namespace == "" {
		return "", fmt.Errorf("query: cannot confine to %s=%q: a label other than %s and a namespace are needed: %w",
			label, namespace, model.MetricNameLabel, series.ErrQuery)
	}
	root, err := parse(expr)
	if err != nil {
		return "", err
	}
	own, err := labels.NewMatcher(labels.MatchEqual, label, namespace)
	if err != nil {
		return "", fmt.Errorf("query: matcher %s=%q: %w: %w", label, namespace, err, series.ErrQuery)
	}
	if err := walk(root, func(s *parser.VectorSelector) error { return require(s, own) }); err != nil {
		return "", err
	}
	confined := root.String()
	if err := verify(confined, own); err != nil {
		return "", err
	}
	return confined, nil
}

// Check refuses an expression that can be no Forecast's query: what Confine refuses, save that any namespace may be
// read. Errors wrap series.ErrQuery and say what to write instead.
func Check(expr string) error {
	_, err := parse(expr)
	return err
}

// IsRate says whether the expression measures something per time (it contains rate, irate or increase), so that its
// observed value is a mean. An expression that does not parse is none.
func IsRate(expr string) bool {
	root, err := parse(expr)
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

// Lookback is how long one bad sample may stand in the expression's value: its longest range, to which the ranges of
// sub-queries around it are added. It is 0 where every selector is instant, and where the expression does not parse.
func Lookback(expr string) time.Duration {
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return 0
	}
	return lookback(root)
}

func lookback(node parser.Node) time.Duration {
	longest := time.Duration(0)
	for child := range parser.ChildrenIter(node) {
		longest = max(longest, lookback(child))
	}
	switch n := node.(type) {
	case *parser.MatrixSelector:
		return n.Range
	case *parser.SubqueryExpr:
		return n.Range + longest
	}
	return longest
}

// require adds the matcher to the selector, unless it is there. Another matcher on the same label is the tenant's
// mistake or attempt: replacing it in silence would answer a question that was not asked.
func require(s *parser.VectorSelector, own *labels.Matcher) error {
	present := false
	for _, m := range s.LabelMatchers {
		if m.Name != own.Name {
			continue
		}
		if m.Type != labels.MatchEqual || m.Value != own.Value {
			return refuse(s,
				"the matcher %s is not allowed: queries are confined to %s; leave it out, or ask the operator "+
					"to list the namespace in --cluster-query-namespaces", clip(m.String()), own)
		}
		present = true
	}
	if !present {
		s.LabelMatchers = append(s.LabelMatchers, own)
	}
	return nil
}

// verify reads the confined expression as an engine will, and looks that every selector carries the matcher. It is the
// check on this package's own work: were the printer and the parser of PromQL to disagree on some construct, the
// expression is refused, not sent.
func verify(confined string, own *labels.Matcher) error {
	root, err := parse(confined)
	if err != nil {
		return fmt.Errorf("query: its confined form is not understood; write it more simply: %w", err)
	}
	if root.String() != confined {
		return fmt.Errorf("query: its confined form reads differently the second time; write it more simply: %w",
			series.ErrQuery)
	}
	return walk(root, func(s *parser.VectorSelector) error {
		for _, m := range s.LabelMatchers {
			if m.Name == own.Name && m.Type == own.Type && m.Value == own.Value {
				return nil
			}
		}
		return refuse(s, "it cannot be confined to %s; write it more simply", own)
	})
}
