package promexpr

import (
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// WithoutNative is an expression without the alternatives that read native histograms, X or histogram_count(…), for a store whose language
// does not have these functions. It is the expression itself where there are none.
func WithoutNative(expr string) string {
	if !readsNative(expr) {
		return expr
	}
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return expr
	}
	parser.Inspect(root, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) { // An operation cannot be replaced by its own side from below.
		case *parser.ParenExpr:
			n.Expr = firstAlternative(n.Expr)
		case *parser.AggregateExpr:
			n.Expr = firstAlternative(n.Expr)
		case *parser.BinaryExpr:
			n.LHS, n.RHS = firstAlternative(n.LHS), firstAlternative(n.RHS)
		case *parser.Call:
			for i, arg := range n.Args {
				n.Args[i] = firstAlternative(arg)
			}
		}
		return nil
	})
	return firstAlternative(root).String()
}

// firstAlternative returns the left side of an or whose right side reads native histograms. For other expressions, it returns the
// expression.
func firstAlternative(expr parser.Expr) parser.Expr { //nolint:ireturn // The parser's own sum type.
	for {
		b, ok := expr.(*parser.BinaryExpr)
		if !ok || b.Op != parser.LOR || !readsNative(b.RHS.String()) {
			return expr
		}
		expr = b.LHS
	}
}

func readsNative(expr string) bool {
	return strings.Contains(expr, "histogram_count(") || strings.Contains(expr, "histogram_fraction(")
}
