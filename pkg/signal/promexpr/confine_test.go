package promexpr_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

func TestConfine(t *testing.T) {
	tests := []struct{ expr, want string }{
		{`up`, `up{namespace="a"}`},
		{`sum(rate(x_total{code="200"}[5m]))`, `sum(rate(x_total{code="200",namespace="a"}[5m]))`},
		{`x{namespace="a"}`, `x{namespace="a"}`},
		{`x / on (pod) group_left () y`, `x{namespace="a"} / on (pod) group_left () y{namespace="a"}`},
		{`max_over_time(x[1h:5m] offset 1d)`, `max_over_time(x{namespace="a"}[1h:5m] offset 1d)`},
		{`{"a.metric", job="j"}`, `{__name__="a.metric",job="j",namespace="a"}`},
		{`vector(3)`, `vector(3)`},
		{`-x ^ 2`, `-x{namespace="a"} ^ 2`},
	}
	for _, tt := range tests {
		got, err := promexpr.Confine(tt.expr, "namespace", "a", "")
		if err != nil {
			t.Errorf("%s: %v", tt.expr, err)
			continue
		}
		checkSame(t, got, tt.want)
	}
}

// checkSame compares two expressions, not their spelling.
func checkSame(t *testing.T, got, want string) {
	t.Helper()
	p := parser.NewParser(parser.Options{})
	g, err := p.ParseExpr(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.ParseExpr(want)
	if err != nil {
		t.Fatal(err)
	}
	if g.String() != w.String() {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestQueriesThatAreRefused(t *testing.T) {
	tests := []struct{ expr, says string }{
		{``, "no expression"},
		{`sum(`, "unclosed"},
		{`x{namespace="b"}`, "--cluster-query-namespaces"},
		{`x{namespace!=""}`, "remove the matcher"},
		{`x{namespace=~".*"}`, "remove the matcher"},
		{`x{namespace="a",namespace=~".+"}`, "remove the matcher"},
		{`info(x)`, "info"},
		{`info(x, {namespace="b"})`, "info"},
		{`x[5m]`, "rate()"},
		{`"hello"`, "instant vector"},
		{`x @ end()`, "@ end()"},
		{`sum_over_time(x[1h:1m] @ start())`, "@ start()"},
		{`x offset -5m`, "negative offset"},
		{`max_over_time(x[1y])`, "recording rule"},
		{`x offset 100d`, "recording rule"},
		{`max_over_time(x[10d:1s])`, "longer step"},
		{strings.Repeat("(", 200) + "x" + strings.Repeat(")", 200), "nested"},
		{strings.Repeat("x+", 9000) + "x", "bytes"},
		{`{}`, "matcher"},
		{`mad_over_time(x[5m])`, "not enabled"},
	}
	for _, tt := range tests {
		_, err := promexpr.Confine(tt.expr, "namespace", "a", "")
		if !errors.Is(err, series.ErrQuery) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%.60s: error %v, want ErrQuery that says %q", tt.expr, err, tt.says)
		}
	}
}

func TestConfineNeedsLabelAndNamespace(t *testing.T) {
	for _, c := range [][2]string{{"", "a"}, {"namespace", ""}, {"__name__", "a"}} {
		if out, err := promexpr.Confine("up", c[0], c[1], ""); err == nil {
			t.Errorf("Confine to %s=%q: %s, want an error", c[0], c[1], out)
		}
	}
}

func TestParse(t *testing.T) {
	if _, err := promexpr.Parse(`sum(rate(x_total{namespace="b"}[5m]))`); err != nil {
		t.Error(err)
	}
	if _, err := promexpr.Parse(`sum(x) @ end()`); !errors.Is(err, series.ErrQuery) {
		t.Errorf("error %v, want ErrQuery", err)
	}
}

func TestIsRate(t *testing.T) {
	for expr, want := range map[string]bool{
		`sum(rate(x_total[5m]))`:            true,
		`sum(irate(x_total[5m])) * 60`:      true,
		`sum(increase(x_total[1m]))`:        true,
		`max_over_time(rate(x[1m])[1h:1m])`: true,
		`sum(inflight)`:                     false,
		`sum(rate)`:                         false,
		`avg_over_time(x[5m])`:              false,
		`sum(rate(`:                         false,
	} {
		if got := promexpr.IsRate(expr); got != want {
			t.Errorf("IsRate(%s) is %v", expr, got)
		}
	}
}

func TestIsAverage(t *testing.T) {
	for query, want := range map[string]bool{
		"avg(x)": true, "(avg by (job) (x))": true, "sum(avg by (pod) (x))": false, "sum(x) / count(x)": false, "avg(": false,
	} {
		if got := promexpr.IsAverage(query); got != want {
			t.Errorf("%s: %v", query, got)
		}
	}
}

// own is what namespace a has; other is what it must never see, made to be found by whatever looks for it.
const own = `
  x{namespace="a",job="j",instance="i"} 1x20
  x_total{namespace="a",job="j",instance="i"} 0+1x20
`

const other = `
  x{namespace="b",job="j",instance="i"} 666x20
  x{namespace="b",job="j",instance="i2",secret="yes"} 666x20
  x{job="j",instance="nowhere"} 667x20
  x{namespace="A",job="j"} 668x20
  x_total{namespace="b",job="j",instance="i"} 0+666x20
  only_b{namespace="b",job="j",instance="i"} 669x20
  target_info{namespace="b",job="j",instance="i",secret="yes"} 1x20
`

// escapes are queries of namespace a that answer with, or by, series of others where nothing confines them: TestNoEscape
// shows it of each.
var escapes = []string{
	`x`,
	`x{namespace="b"}`,
	`x{namespace!="a"}`,
	`x{namespace=~"a|b"}`,
	`x{namespace=""}`,
	`x{namespace="a"} or x{namespace="b"}`,
	`x{"namespace"="b"}`,
	`{"namespace"="b"}`,
	`x or only_b`,
	`only_b or vector(0)`,
	`x and on () only_b`,
	`x * on (job) group_left (secret) target_info`,
	`x * ignoring (namespace, secret) group_right () x`,
	`{__name__=~".+"}`,
	`{__name__=~"x|only_b"}`,
	`{__name__!="x",job="j"}`,
	`{job="j"}`,
	`{"x"}`,
	`{namespace=~".*",__name__="x"}`,
	`label_replace(only_b, "namespace", "a", "", "")`,
	`label_replace(x, "namespace", "b", "namespace", "a")`,
	`label_join(x, "namespace", "", "secret")`,
	`sum by (namespace) (x)`,
	`sum without (namespace) (x)`,
	`count(count by (namespace) ({__name__!=""}))`,
	`max_over_time(x[5m:1m])`,
	`max_over_time(sum(x)[5m:1m])`,
	`max_over_time((x or only_b)[5m:30s] offset 1m)`,
	`x @ 60`,
	`x @ end()`,
	`x offset 1m`,
	`x offset -1m`,
	`sum(x @ 60) + sum(only_b offset 1m)`,
	`info(x)`,
	`info(x, {__name__=~".+"})`,
	`info(x, {secret="yes"})`,
	`absent(only_b)`,
	`scalar(only_b)`,
	`topk(5, x)`,
	`quantile(0.99, x)`,
	`count_values("namespace", x)`,
	"x # {namespace=\"a\"}\n or only_b",
	`rate(x_total[5m])`,
	`sum(rate({__name__="x_total"}[5m]))`,
	`time() + scalar(sum(only_b))`,
	`- only_b`,
	`((only_b))`,
	`x anchored`,
	`predict_linear(only_b[5m], 60)`,
	`timestamp(only_b)`,
	`x == bool on () group_left () only_b`,
}

// oddities answer nothing of others even so, or are no queries at all; confining must not make them worse.
var oddities = []string{
	`histogram_quantile(0.9, only_b)`,
	`only_b unless x`,
	`x{job="j\"} or only_b or x{job=\"j"}`,
	`x{namespace="a",namespace="b"}`,
	`x{namespace="a"} # }`,
	`x fill (only_b) x`,
	`x{namespace="a"}[5m:] or only_b`,
}

// TestNoEscape runs what tenants might try on two storages, one of which holds other namespaces' series as well: a
// query that is not refused must answer the same on both.
func TestNoEscape(t *testing.T) {
	load := func(s string) string { return "load 15s" + strings.ReplaceAll(s, "\n\n", "\n") }
	alone := promqltest.LoadedStorage(t, load(own))
	both := promqltest.LoadedStorage(t, load(own+other))
	for _, escape := range escapes {
		if evaluate(t, alone, escape) == evaluate(t, both, escape) {
			t.Errorf("%s: not confined it answers nothing of others, so that it proves nothing", escape)
		}
	}
	for _, attempt := range slices.Concat(escapes, oddities) {
		confined, err := promexpr.Confine(attempt, "namespace", "a", "")
		if err != nil {
			if !errors.Is(err, series.ErrQuery) {
				t.Errorf("%s: error %v, want ErrQuery", attempt, err)
			}
			continue
		}
		want, got := evaluate(t, alone, confined), evaluate(t, both, confined)
		if got != want {
			t.Errorf("%s\nconfined to %s\nanswers %s\nwhere its own namespace has %s", attempt, confined, got, want)
		}
	}
}

// evaluate runs an expression on an engine that allows everything, experimental functions too.
func evaluate(t *testing.T, db storage.Queryable, expr string) string {
	t.Helper()
	engine := promqltest.NewTestEngine(t, false, 0, 1e6)
	q, err := engine.NewRangeQuery(t.Context(), db, nil, expr, time.Unix(60, 0), time.Unix(300, 0), 30*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	defer q.Close()
	res := q.Exec(t.Context())
	if res.Err != nil {
		return "error: " + res.Err.Error()
	}
	return res.Value.String()
}

func FuzzConfine(f *testing.F) {
	for _, seed := range []string{
		`up`, `sum(rate(x{a="b"}[5m] offset 1m)) / ignoring (c) group_left () y`, `{__name__=~"a.*"}`,
		`x{namespace="a"} or on () vector(1)`, `max_over_time((x > bool 1)[1h:5m] @ 60)`, `{"quoted.name","l.b"="v"}`,
		`count_values("v", x)`, `-1 ^ x`, `x{a=~"\\d"}`, "`", `x{a='b'} # c`, `0x1F * x`, `Inf`, `topk(1, x) == 2`,
	} {
		f.Add(seed, "a")
	}
	f.Add("up", `a"} or up{x="`)
	f.Add("up", "a\xff\\")
	p := parser.NewParser(parser.Options{})
	f.Fuzz(func(t *testing.T, expr, namespace string) {
		confined, err := promexpr.Confine(expr, "namespace", namespace, "cluster=eu")
		if err != nil {
			if !errors.Is(err, series.ErrQuery) {
				t.Fatalf("%q: error %v, want ErrQuery", expr, err)
			}
			return
		}
		root, err := p.ParseExpr(confined)
		if err != nil {
			t.Fatalf("%q became %q: %v", expr, confined, err)
		}
		for _, matchers := range parser.ExtractSelectors(root) {
			if !requires(matchers, "namespace", namespace) || !requires(matchers, "cluster", "eu") {
				t.Fatalf("%q became %q: %v does not require namespace %q in cluster eu", expr, confined, matchers,
					namespace)
			}
		}
		if again, err := promexpr.Confine(confined, "namespace", namespace, "cluster=eu"); err != nil ||
			again != confined {
			t.Fatalf("%q became %q, and that %q (%v)", expr, confined, again, err)
		}
	})
}

// requires says that the matchers let nothing through but the label's value.
func requires(matchers []*labels.Matcher, label, value string) bool {
	return slices.ContainsFunc(matchers, func(m *labels.Matcher) bool {
		return m.Name == label && m.Type == labels.MatchEqual && m.Value == value
	})
}
