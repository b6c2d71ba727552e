package signal

import (
	"cmp"
	"fmt"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/core/series"
)

const (
	// maxExpr is the longest query in bytes; presets need 5,000 at most.
	maxExpr = 8 << 10
	// maxDepth bounds the nesting, and so the stack of whoever evaluates the expression.
	maxDepth = 100
	// maxRange is how far back one selector or sub-query may look from the time that it is evaluated at.
	maxRange = 32 * 24 * time.Hour
	// maxSubquerySteps is how often a sub-query may be evaluated for one point of the answer.
	maxSubquerySteps = 11_000
	// defaultSubqueryStep is what engines use where the sub-query names no step: the global evaluation interval, whose
	// default is a minute.
	defaultSubqueryStep = time.Minute
)

// parse reads an expression and refuses what no Forecast may ask. The parser knows no experimental function (info
// among them) and no experimental syntax.
func parse(expr string) (parser.Expr, error) { //nolint:ireturn // The parser's own sum type.
	if len(expr) > maxExpr {
		return nil, fmt.Errorf("query: %d bytes, at most %d are allowed: use a recording rule: %w",
			len(expr), maxExpr, series.ErrQuery)
	}
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return nil, fmt.Errorf("query %q: %w: %w", clip(expr), err, series.ErrQuery)
	}
	if t := root.Type(); t != parser.ValueTypeVector && t != parser.ValueTypeScalar {
		return nil, fmt.Errorf("query %q: it yields a %s, want an instant vector: apply a function such as rate() or "+
			"avg_over_time(): %w", clip(expr), parser.DocumentedType(t), series.ErrQuery)
	}
	if err := walk(root, func(*parser.VectorSelector) error { return nil }); err != nil {
		return nil, err
	}
	return root, nil
}

// walk visits every selector of the expression. It is an allow-list: a node that it does not know is refused, so that
// new syntax must be thought about before it passes.
func walk(root parser.Expr, visit func(*parser.VectorSelector) error) error {
	return walkFrom(root, 0, visit)
}

func walkFrom(node parser.Expr, depth int, visit func(*parser.VectorSelector) error) error {
	if depth > maxDepth {
		return refuse(node, "it is nested deeper than %d levels; use a recording rule", maxDepth)
	}
	if err := allowed(node); err != nil {
		return err
	}
	if s, ok := node.(*parser.VectorSelector); ok {
		return visit(s)
	}
	for child := range parser.ChildrenIter(node) {
		expr, ok := child.(parser.Expr)
		if !ok {
			return refuse(node, "its part %T is not understood", child)
		}
		if err := walkFrom(expr, depth+1, visit); err != nil {
			return err
		}
	}
	return nil
}

// allowed judges one node by itself.
func allowed(node parser.Expr) error {
	switch n := node.(type) {
	case *parser.NumberLiteral, *parser.StringLiteral, *parser.ParenExpr, *parser.UnaryExpr, *parser.BinaryExpr,
		*parser.AggregateExpr:
		return nil
	case *parser.Call:
		return allowedCall(n)
	case *parser.VectorSelector:
		if n.OriginalOffsetExpr != nil || n.BypassEmptyMatcherCheck || n.Anchored || n.Smoothed {
			return refuse(n, "its modifiers are not understood")
		}
		return allowedTime(n, n.StartOrEnd, n.OriginalOffset)
	case *parser.MatrixSelector:
		if n.RangeExpr != nil {
			return refuse(n, "write its range as a plain duration such as 5m")
		}
		return allowedRange(n, n.Range)
	case *parser.SubqueryExpr:
		return allowedSubquery(n)
	default:
		return refuse(node, "%T is not understood", node)
	}
}

// allowedCall refuses functions that read series which no selector names. The parser refuses info and all that is
// experimental already; this fence stays when an option opens the parser's.
func allowedCall(call *parser.Call) error {
	if call.Func.Name == "info" || call.Func.Experimental {
		return refuse(call, "the function %s is not allowed; join the series that you need by an operator",
			call.Func.Name)
	}
	return nil
}

func allowedSubquery(n *parser.SubqueryExpr) error {
	if n.RangeExpr != nil || n.StepExpr != nil || n.OriginalOffsetExpr != nil {
		return refuse(n, "write its range, step and offset as plain durations such as 5m")
	}
	if err := allowedTime(n, n.StartOrEnd, n.OriginalOffset); err != nil {
		return err
	}
	if steps := n.Range / cmp.Or(n.Step, defaultSubqueryStep); steps > maxSubquerySteps {
		return refuse(n, "the sub-query has %d steps, at most %d are allowed: use a longer step", steps,
			maxSubquerySteps)
	}
	return allowedRange(n, n.Range)
}

// allowedTime refuses modifiers that make the value at a time depend on what is asked for beside it, or on what comes
// after it: the value at t must be the same in every query, now and later.
func allowedTime(n parser.Expr, startOrEnd parser.ItemType, offset time.Duration) error {
	if startOrEnd != 0 {
		return refuse(n,
			"@ start() and @ end() are not allowed: the value at a time must not depend on the range asked for")
	}
	if offset < 0 {
		return refuse(n, "a negative offset is not allowed: it reads what comes after the time that it is asked for")
	}
	return allowedRange(n, offset)
}

func allowedRange(n parser.Expr, reach time.Duration) error {
	if reach > maxRange {
		return refuse(n, "it looks %v back, at most %v is allowed: use a recording rule", reach, maxRange)
	}
	return nil
}

// refuse says what is wrong with a part of the query and where that part stands.
func refuse(node parser.Node, format string, args ...any) error {
	at := node.PositionRange()
	return fmt.Errorf("query at character %d to %d: %s: %w",
		int(at.Start)+1, int(at.End), fmt.Sprintf(format, args...), series.ErrQuery)
}
