package adopt

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// demandOf is the demand of now that a query reads, with a sentence for each change and each caveat. The error is why it reads none.
//
//nolint:ireturn // A sum type.
func demandOf(expr parser.Expr) (demand parser.Expr, notes []string, err error) {
	demand, taken := plain(expr)
	if trick := remaining(demand); trick != "" {
		const several = "its query combines several operands with %s: write a query for the current demand alone"
		return nil, nil, fmt.Errorf(several, trick)
	}
	if isRatio(demand) {
		const ratio = "its query is a ratio of two series, which is not a demand: write the total as the query (its " +
			"numerator may be the total), and how much of the total a replica sustains as the target"
		return nil, nil, errors.New(ratio)
	}
	if number := defaultOf(demand); number != "" {
		const missing = "The query returns %[1]s if there is no series, so an exporter that is down looks like a demand of " +
			"%[1]s. If the series always exists, remove `or vector(%[1]s)`: Forewarm then reports when the series is missing."
		notes = append(notes, fmt.Sprintf(missing, number))
	}
	for _, trick := range taken {
		notes = append(notes,
			trick+" is removed from the query: the Forecast needs the current demand and looks ahead by itself.")
	}
	return demand, notes, nil
}

// isRatio reports whether the value of an expression is one series divided by another.
func isRatio(expr parser.Expr) bool {
	if n, ok := expr.(*parser.BinaryExpr); ok && n.Op == parser.DIV && hasSeries(n.LHS) && hasSeries(n.RHS) {
		return true
	}
	operand := operandOf(expr)
	return operand != nil && isRatio(operand)
}

func hasSeries(expr parser.Expr) bool { return len(parser.ExtractSelectors(expr)) > 0 }

// operandOf is the one operand with series whose value an expression passes on, perhaps changed by numbers; nil if there are none or
// several. A sum may add up ratios to a demand.
//
//nolint:ireturn // A sum type.
func operandOf(expr parser.Expr) parser.Expr {
	var operands []parser.Expr
	switch n := expr.(type) {
	case *parser.ParenExpr:
		return n.Expr
	case *parser.UnaryExpr:
		return n.Expr
	case *parser.SubqueryExpr:
		return n.Expr
	case *parser.AggregateExpr:
		if n.Op == parser.AVG || n.Op == parser.MAX || n.Op == parser.MIN {
			return n.Expr
		}
	case *parser.Call:
		operands = n.Args
	case *parser.BinaryExpr:
		operands = []parser.Expr{n.LHS, n.RHS}
		if keeps := n.Op.IsSetOperator() || n.Op.IsComparisonOperator() && !n.ReturnBool; keeps && hasSeries(n.LHS) {
			operands = operands[:1]
		}
	}
	var found parser.Expr
	for _, operand := range operands {
		switch {
		case !hasSeries(operand):
		case found != nil:
			return nil
		default:
			found = operand
		}
	}
	return found
}

// defaultOf returns the number in an expression that ends in "or vector(0)" or the like; empty if it does not.
func defaultOf(expr parser.Expr) string {
	if n, ok := expr.(*parser.AggregateExpr); ok {
		return defaultOf(n.Expr)
	}
	if n, ok := expr.(*parser.BinaryExpr); ok && n.Op == parser.LOR {
		if call, ok := n.RHS.(*parser.Call); ok && call.Func.Name == "vector" {
			return call.Args[0].String()
		}
	}
	if operand := operandOf(expr); operand != nil {
		return defaultOf(operand)
	}
	return ""
}

// mayBeEmpty reports whether an expression has a condition that can remove all items of its value.
func mayBeEmpty(node parser.Node) bool {
	if n, ok := node.(*parser.BinaryExpr); ok {
		switch {
		case n.Op == parser.LOR:
			return mayBeEmpty(n.LHS) && mayBeEmpty(n.RHS)
		case n.Op == parser.LAND, n.Op == parser.LUNLESS, n.Op.IsComparisonOperator() && !n.ReturnBool:
			return true
		}
	}
	return slices.ContainsFunc(parser.Children(node), mayBeEmpty)
}

// tricks has the functions with which a query looks ahead, or at the worst value over a time.
var tricks = []string{ //nolint:gochecknoglobals // A constant table.
	"max_over_time", "quantile_over_time", "predict_linear", "double_exponential_smoothing",
}

// plain removes tricks and offsets from an expression, from the outside in, as long as it has a single operand. taken lists them.
func plain(expr parser.Expr) (inner parser.Expr, taken []string) { //nolint:ireturn // A sum type.
	stripped := false // The range is removed together with the function over it.
	for part := &expr; part != nil; {
		var next *parser.Expr
		ranged := false
		if at := offsetOf(*part); at != nil && *at != 0 {
			taken, *at = append(taken, "offset "+model.Duration(*at).String()), 0
		}
		switch n := (*part).(type) {
		case *parser.MatrixSelector:
			next, ranged = &n.VectorSelector, true
		case *parser.SubqueryExpr:
			next, ranged = &n.Expr, true
		case *parser.ParenExpr:
			next = &n.Expr
		case *parser.AggregateExpr:
			next = &n.Expr
		case *parser.Call:
			if isTrick(n) {
				taken, stripped = append(taken, n.Func.Name), true
				*part, next = n.Args[slices.IndexFunc(n.Args, isRange)], part
			} else if len(n.Args) == 1 {
				next = &n.Args[0]
			}
		}
		if ranged && stripped {
			*part, next, stripped = *next, part, false
		}
		part = next
	}
	return expr, taken
}

func isTrick(call *parser.Call) bool {
	return slices.Contains(tricks, call.Func.Name) && slices.ContainsFunc(call.Args, isRange)
}

func isRange(e parser.Expr) bool { return e.Type() == parser.ValueTypeMatrix }

// offsetOf returns the pointer to a node's offset; nil if the node cannot have one.
func offsetOf(node parser.Node) *time.Duration {
	switch n := node.(type) {
	case *parser.VectorSelector:
		return &n.OriginalOffset
	case *parser.SubqueryExpr:
		return &n.OriginalOffset
	}
	return nil
}

// remaining returns an offset, or a function that looks ahead, that was not removed; empty if there is none.
func remaining(expr parser.Expr) (trick string) {
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if at := offsetOf(node); at != nil && *at != 0 {
			trick = "offset"
		} else if call, ok := node.(*parser.Call); ok && (isTrick(call) || call.Func.Name == "deriv") {
			trick = call.Func.Name
		}
		return nil
	})
	return trick
}
