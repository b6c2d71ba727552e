package promexpr_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// Queries of one's own differ by a label where they add up one selector; others are asked alone.
func TestQueriesThatCanBeAskedTogether(t *testing.T) {
	for expr, can := range map[string]bool{
		`sum(demand{model="7"})`:                                 true,
		`sum(rate(requests_total{model="7"}[2m]))`:               true,
		`sum by () (demand{model="7"})`:                          true,
		`sum by (zone) (demand)`:                                 false,
		`sum without (pod) (demand)`:                             false,
		`avg(demand)`:                                            false,
		`demand{model="7"}`:                                      false,
		`sum(a) + sum(b)`:                                        false,
		`sum(max_over_time(sum(rate(a[1m]))[1h:1m]))`:            false,
		`sum(a + b)`:                                             false,
		`topk(1, a * on (pod) group_left () b)`:                  false,
		`sum without (pod) (a * on (pod) group_left () b)`:       false,
		`sum(a * on (pod) group_right () b)`:                     false,
		`sum(a * ignoring (pod) group_left () b)`:                false,
		`absent(a * on (pod) group_left () b)`:                   false,
		`sum(a * on (pod) group_left () b) / sum(c)`:             false,
		`sum(a * on (pod) group_left () b) unless on () c`:       true,
		`sum(a * on (pod) group_left () b) >= 0 < Inf`:           true,
		`sum(avg by (r) (a * on (pod) group_left (r) b{x="1"}))`: true,
		`sum(forewarm_own_part * on (pod) group_left () b)`:      false,
		`sum(`: false,
	} {
		if _, ok := promexpr.Split(expr); ok != can {
			t.Errorf("%s can be asked together: %v, want %v", expr, ok, can)
		}
	}
	var parts []promexpr.Part
	for _, model := range []string{"7", "8", "9"} {
		part, ok := promexpr.Split(`sum(demand{model="` + model + `"})`)
		if !ok {
			t.Fatal("a sum cannot be asked together")
		}
		parts = append(parts, part)
	}
	const load = `
  demand{model="7",pod="a"} 1x40
  demand{model="7",pod="b"} 0.25x40
  demand{model="8",pod="a"} 2x40
`
	want := fmt.Sprintf("{%s=%q} 1.25\n  {%s=%q} 2", promexpr.PartLabel, parts[0].ID, promexpr.PartLabel, parts[1].ID)
	evaluates(t, "15s"+load, "5m", promexpr.Join(parts), want) // Two of three models report.
}

// Whatever queries a namespace has, what is asked together of it reads what each of them reads, and nothing else.
func FuzzJoin(f *testing.F) {
	f.Add(`sum(demand{namespace="ai",model="7"})`, `sum(demand{namespace="ai",model="8"})`)
	f.Add(
		`sum(a * on (pod) group_left () b{x="1"}) unless on () c`,
		`sum(a * on (pod) group_left () b{x="2"}) unless on () c`,
	)
	f.Add(`sum(forewarm_own_part)`, `sum(x{a="forewarm_own_part"})`)
	f.Add(`sum(rate(a[5m] offset 1h))`, `sum((a))`)
	p := parser.NewParser(parser.Options{})
	read := func(t *testing.T, expr string) (out []string) {
		t.Helper()
		root, err := p.ParseExpr(expr)
		if err != nil {
			t.Fatalf("%v: %s", err, expr)
		}
		parser.Inspect(root, func(node parser.Node, _ []parser.Node) error {
			if s, ok := node.(*parser.VectorSelector); ok {
				out = append(out, s.String())
			}
			return nil
		})
		slices.Sort(out)
		return slices.Compact(out)
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		a, okA := promexpr.Split(one)
		b, okB := promexpr.Split(other)
		if !okA || !okB || a.Template != b.Template {
			return
		}
		joined := promexpr.Join([]promexpr.Part{a, b})
		want := append(read(t, one), read(t, other)...)
		slices.Sort(want)
		if got := read(t, joined); !slices.Equal(got, slices.Compact(want)) {
			t.Fatalf("%s\nreads %v, want %v", joined, got, want)
		}
	})
}
