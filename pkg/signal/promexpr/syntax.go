package promexpr

import (
	"cmp"
	"fmt"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/printable"
)

const (
	// maxExpr is the maximum length of a query in bytes. It is the same as in VictoriaMetrics (-search.maxQueryLen). Every preset is shorter.
	maxExpr = 16 << 10
	// maxDepth limits the nesting, and with it the stack of the engine.
	maxDepth = 100
	// maxRange is how far back one selector or sub-query may read.
	maxRange = 32 * 24 * time.Hour
	// maxSubquerySteps limits the evaluations of a subquery for one point of the answer.
	maxSubquerySteps = 11_000
	// defaultSubqueryStep is the step of a subquery that does not specify one. It is the global evaluation interval, a minute by default.
	defaultSubqueryStep = time.Minute
)

// Parse parses an expression and refuses what a Forecast must not query, whatever namespaces it may read. The parser's
// experimental functions (info is one) and syntax are off. Errors wrap series.ErrQuery and have an alternative.
func Parse(expr string) (parser.Expr, error) { //nolint:ireturn // The parser's own sum type.
	if len(expr) > maxExpr {
		return nil, fmt.Errorf("query: the query has %d bytes; at most %d are allowed: use a recording rule: %w",
			len(expr), maxExpr, series.ErrQuery)
	}
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return nil, fmt.Errorf("query %q: %w: %w", clip(expr), err, series.ErrQuery)
	}
	if t := root.Type(); t != parser.ValueTypeVector && t != parser.ValueTypeScalar {
		return nil, fmt.Errorf(
			"query %q: its result is a %s instead of an instant vector: apply a function such as rate() or "+
				"avg_over_time(): %w",
			clip(expr),
			parser.DocumentedType(t),
			series.ErrQuery,
		)
	}
	if err := walkSelectors(root, func(*parser.VectorSelector) error { return nil }); err != nil {
		return nil, err
	}
	return root, nil
}

// walkSelectors visits every selector of the expression. Only node types on an allow-list are accepted, so new syntax is rejected until it
// has been reviewed.
func walkSelectors(root parser.Expr, visit func(*parser.VectorSelector) error) error {
	return walkNode(root, 0, visit)
}

func walkNode(node parser.Expr, depth int, visit func(*parser.VectorSelector) error) error {
	if depth > maxDepth {
		return refuseNode(node, "it is nested deeper than %d levels: use a recording rule", maxDepth)
	}
	if err := checkNode(node); err != nil {
		return err
	}
	if s, ok := node.(*parser.VectorSelector); ok {
		return visit(s)
	}
	for child := range parser.ChildrenIter(node) {
		expr, ok := child.(parser.Expr)
		if !ok {
			return refuseNode(node, "its part %T is not supported", child)
		}
		if err := walkNode(expr, depth+1, visit); err != nil {
			return err
		}
	}
	return nil
}

// checkNode checks one node without its children.
func checkNode(node parser.Expr) error {
	switch n := node.(type) {
	case *parser.NumberLiteral, *parser.StringLiteral, *parser.ParenExpr, *parser.UnaryExpr, *parser.BinaryExpr,
		*parser.AggregateExpr:
		return nil
	case *parser.Call:
		return checkCall(n)
	case *parser.VectorSelector:
		if n.OriginalOffsetExpr != nil || n.BypassEmptyMatcherCheck || n.Anchored || n.Smoothed {
			return refuseNode(n, "its modifiers are not supported")
		}
		return checkTime(n, n.StartOrEnd, n.OriginalOffset)
	case *parser.MatrixSelector:
		if n.RangeExpr != nil {
			return refuseNode(n, "write its range as a plain duration such as 5m")
		}
		return checkRange(n, n.Range)
	case *parser.SubqueryExpr:
		return checkSubquery(n)
	default:
		return refuseNode(node, "%T is not supported", node)
	}
}

// checkCall rejects functions that read series without a selector. The parser already rejects info and all experimental functions, but this
// check also works if an option of the parser changes.
func checkCall(call *parser.Call) error {
	if call.Func.Name == "info" || call.Func.Experimental {
		return refuseNode(
			call,
			"the function %s is not allowed: join the series with an operator instead",
			call.Func.Name,
		)
	}
	return nil
}

func checkSubquery(n *parser.SubqueryExpr) error {
	if n.RangeExpr != nil || n.StepExpr != nil || n.OriginalOffsetExpr != nil {
		return refuseNode(n, "write its range, step and offset as plain durations such as 5m")
	}
	if err := checkTime(n, n.StartOrEnd, n.OriginalOffset); err != nil {
		return err
	}
	if steps := n.Range / cmp.Or(n.Step, defaultSubqueryStep); steps > maxSubquerySteps {
		return refuseNode(n, "the subquery has %d steps; at most %d are allowed: use a longer step", steps,
			maxSubquerySteps)
	}
	return checkRange(n, n.Range)
}

// checkTime rejects modifiers that make the value depend on the range of the query or on later samples. The value at t must be the same in
// every query.
func checkTime(n parser.Expr, startOrEnd parser.ItemType, offset time.Duration) error {
	if startOrEnd != 0 {
		return refuseNode(
			n,
			"@ start() and @ end() are not allowed, because the value at a time must not depend on the range of the query",
		)
	}
	if offset < 0 {
		return refuseNode(
			n,
			"a negative offset is not allowed, because it reads samples from after the time of the value",
		)
	}
	return checkRange(n, offset)
}

func checkRange(n parser.Expr, reach time.Duration) error {
	if reach > maxRange {
		return refuseNode(n, "it reads %v back; at most %v is allowed: use a recording rule", reach, maxRange)
	}
	return nil
}

// refuseNode returns an error about a part of the query, with its position.
func refuseNode(node parser.Node, format string, args ...any) error {
	at := node.PositionRange()
	return fmt.Errorf("query at character %d to %d: %s: %w",
		int(at.Start)+1, int(at.End), fmt.Sprintf(format, args...), series.ErrQuery)
}

// clip shortens user input for an error message.
func clip(s string) string {
	const limit = 80
	return printable.Clip(s, limit)
}
