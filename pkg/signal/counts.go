package signal

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// Counts reports whether PromQL, or the name of a metric, adds up the same metrics as the preset, and not only the metrics of the
// queue. If so, the value per replica is in the unit of the preset. Adapters replace the : in a name by _. The expression may take the
// maximum of copies before it adds them up.
func (p Preset) Counts(text string) bool {
	root, err := promexpr.Parse(text)
	if err != nil {
		return false
	}
	server, _, _ := strings.Cut(p.Name, "/")
	demand := false
	return addsUp(root, func(s *parser.VectorSelector) bool {
		demand = demand || !reads(server+"/queue", s.Name)
		return reads(p.Name, s.Name) && !strings.HasPrefix(s.Name, "kube_") && s.OriginalOffset == 0
	}) && demand
}

// addsUp reports whether an expression only adds up selectors that are wanted.
func addsUp(node parser.Expr, wanted func(*parser.VectorSelector) bool) bool {
	switch n := node.(type) {
	case *parser.ParenExpr:
		return addsUp(n.Expr, wanted)
	case *parser.AggregateExpr:
		if copies, ok := n.Expr.(*parser.AggregateExpr); ok && n.Op == parser.SUM && copies.Op == parser.MAX {
			return addsUp(copies.Expr, wanted)
		}
		return n.Op == parser.SUM && addsUp(n.Expr, wanted)
	case *parser.BinaryExpr:
		return (n.Op == parser.ADD || n.Op == parser.LOR) && addsUp(n.LHS, wanted) && addsUp(n.RHS, wanted)
	case *parser.VectorSelector:
		return wanted(n)
	}
	return false
}

// reads reports whether a preset reads a metric of its server.
func reads(preset, name string) bool {
	p, err := Lookup(preset)
	if err != nil {
		return false
	}
	expr, err := p.Undivided().Render("any", Target{Kind: "Deployment", Name: "any"}, Trust{})
	if err != nil {
		return false
	}
	plain := func(name string) string { return strings.ReplaceAll(name, ":", "_") }
	return slices.ContainsFunc(promexpr.Selectors(expr), func(s *parser.VectorSelector) bool {
		return slices.ContainsFunc(promexpr.Names(s), func(read string) bool { return plain(read) == plain(name) })
	})
}
