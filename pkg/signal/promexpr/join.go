package promexpr

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"unique"

	"github.com/prometheus/prometheus/promql/parser"
)

// PartLabel tells the series of a joined query apart. The name is no label of anybody's.
const PartLabel = "forewarm_part"

// Template is a query without what is one Forecast's own: its workload's pods, or its selector. Queries with one template differ by a
// label, and [Join] makes one query of them.
type Template struct{ of unique.Handle[string] }

// Compare is negative where a template comes before another, 0 where both are equal.
func (t Template) Compare(other Template) int { return strings.Compare(t.of.Value(), other.of.Value()) }

// Part is what a query has for itself, and its template.
type Part struct {
	Template

	// ID is the value of PartLabel in what a joined query answers of this one.
	ID  string
	own string
}

// ownPart is a placeholder in a template for the part that is specific to a query.
const ownPart = "forewarm_own_part"

// Split splits a query at its innermost join with the target's pods, X * on (pod) group_left () PODS, or a sum of one selector at
// the selector. What is around it must keep the label apart: aggregations by labels, comparisons with numbers, functions of one vector.
// It is not ok where anything else is.
func Split(expr string) (out Part, ok bool) {
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return out, false
	}
	if own, found := cutJoin(root); found {
		out.own = own
	} else if out.own, found = cutSelector(root); !found {
		return out, false
	}
	template := root.String()
	if strings.Count(template, ownPart) != 1 { // A metric or a label may have any name, including this one.
		return Part{}, false
	}
	hash := fnv.New64a()
	hash.Write([]byte(out.own)) // A hash never fails.
	out.ID = strconv.FormatUint(hash.Sum64(), 36)
	out.Template = Template{unique.Make(template)}
	return out, true
}

// cutJoin replaces the right side of the innermost join below a node by ownPart, and changes the nodes around it so that they keep the
// PartLabel.
func cutJoin(node parser.Expr) (own string, ok bool) {
	switch n := node.(type) {
	case *parser.ParenExpr:
		return cutJoin(n.Expr)
	case *parser.Call:
		if n.Func.Name != "label_replace" && n.Func.Name != "clamp_min" {
			return "", false
		}
		return cutJoin(n.Args[0])
	case *parser.AggregateExpr:
		if n.Without || n.Param != nil {
			return "", false
		}
		if own, ok = cutJoin(n.Expr); ok {
			n.Grouping = append(n.Grouping, PartLabel)
		}
		return own, ok
	case *parser.BinaryExpr:
		return cutOperation(n)
	}
	return "", false
}

func cutOperation(n *parser.BinaryExpr) (own string, ok bool) {
	joins := n.Op == parser.MUL && n.VectorMatching != nil && n.VectorMatching.Card == parser.CardManyToOne &&
		n.VectorMatching.On
	if !joins {
		aside := n.Op == parser.LUNLESS && n.VectorMatching.On || n.RHS.Type() == parser.ValueTypeScalar
		if !aside {
			return "", false
		}
		return cutJoin(n.LHS)
	}
	n.VectorMatching.Include = append(n.VectorMatching.Include, PartLabel)
	if own, ok = cutJoin(n.RHS); !ok {
		own = n.RHS.String()
		n.RHS = &parser.VectorSelector{Name: ownPart}
	}
	return own, true
}

// cutSelector replaces the argument of a sum without labels by ownPart, if the argument has one selector.
func cutSelector(node parser.Expr) (own string, ok bool) {
	sum, isSum := node.(*parser.AggregateExpr)
	if !isSum || sum.Op != parser.SUM || sum.Without || len(sum.Grouping) > 0 {
		return "", false
	}
	selectors := 0
	parser.Inspect(sum.Expr, func(n parser.Node, _ []parser.Node) error {
		switch n.(type) {
		case *parser.VectorSelector:
			selectors++
		case *parser.SubqueryExpr:
			selectors += 2
		}
		return nil
	})
	if selectors != 1 {
		return "", false
	}
	own = sum.Expr.String()
	sum.Expr, sum.Grouping = &parser.VectorSelector{Name: ownPart}, []string{PartLabel}
	return own, true
}

// Join is one query for parts of one template, whose series have the PartLabel and no other label.
func Join(parts []Part) string {
	return strings.Replace(parts[0].of.Value(), ownPart, "("+union(parts)+")", 1)
}

// union returns the specific parts of several queries, joined with or. An engine compares each series on one side of an or with those on
// the other side. Splitting the list in halves recursively costs less than one long chain.
func union(parts []Part) string {
	if len(parts) == 1 {
		return fmt.Sprintf(`label_replace(%s, %q, %q, "", "")`, parts[0].own, PartLabel, parts[0].ID)
	}
	half := len(parts) / 2
	return "(" + union(parts[:half]) + ") or (" + union(parts[half:]) + ")"
}
