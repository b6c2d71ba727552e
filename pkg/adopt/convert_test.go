package adopt //nolint:testpackage // The parts are not exported.

import (
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// Tricks are taken off where a query computes from one operand; what is left elsewhere is named.
func TestPlain(t *testing.T) {
	for _, c := range []struct{ query, want, taken, left string }{
		{"sum(rate(x[5m]))", "sum(rate(x[5m]))", "", ""},
		{"x offset 1w", "sum(x)", "offset 1w", ""},
		{"sum by (a) (rate(x[5m] offset 6d))", "sum(sum by (a) (rate(x[5m])))", "offset 6d", ""},
		{"max_over_time((sum(x))[1h:5m] offset 1d)", "sum((sum(x)))", "max_over_time offset 1d", ""},
		{"ceil(predict_linear(x[1h], 600))", "sum(ceil(x))", "predict_linear", ""},
		{"quantile_over_time(0.9, max_over_time(x[5m])[1h:])", "sum(x)", "quantile_over_time max_over_time", ""},
		{"avg_over_time(x[5m])", "sum(avg_over_time(x[5m]))", "", ""},
		{"clamp_min(x, 1) + max_over_time(x[5m])", "sum(clamp_min(x, 1) + max_over_time(x[5m]))", "", "max_over_time"},
		{"x or x offset 1w", "sum(x or x offset 1w)", "", "offset"},
		{"avg by () (x)", "avg(x)", "", ""},
		{"topk(2, x)", "sum(topk(2, x))", "", ""},
		{"5", "vector(5)", "", ""},
	} {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(c.query)
		if err != nil {
			t.Fatal(err)
		}
		inner, taken := plain(expr)
		if got := total(inner); got != c.want || strings.Join(taken, " ") != c.taken || remaining(inner) != c.left {
			t.Errorf("%s: %s, taken %q, left %q, want %+v", c.query, got, taken, remaining(inner), c)
		}
	}
}

// The series follows from the rule where it has one, and from the metric's name where that is the only one it can be.
func TestSeriesOf(t *testing.T) {
	for _, c := range []struct {
		query, matches, as, metric, want string
		fits                             bool
	}{
		{"a_total", "^(.*)_total$", "${1}_per_second", "a_per_second", "a_total", true},
		{"a_total", "^(.*)_total$", "", "b", "", false},
		{`{x=""}`, "", "", "a", "a", true},
		{`{__name__=~"container_.*"}`, "^container_(.*)_total$", "", "cpu", "container_cpu_total", true},
		{`{__name__!~"container_.*"}`, "^container_(.*)_total$", "", "cpu", "", false},
		{`{x=""}`, "^(.*)_total$", "${1}_rate", "cpu", "", false},
		{`{x=""}`, "^(.*)_(total|sum)$", "${1}_rate", "cpu_rate", "", true},
		{`{x=""}`, "^.*_seconds$", "", "a_seconds", "a_seconds", true},
	} {
		r := rule{SeriesQuery: c.query, MetricsQuery: "x"}
		r.Name.Matches, r.Name.As = c.matches, c.as
		if err := r.compile(); err != nil {
			t.Fatal(err)
		}
		if got, fits := r.seriesOf(c.metric); fits != c.fits || fits && got != c.want {
			t.Errorf("%+v: %q, %v", c, got, fits)
		}
	}
}

// Rules may be written by anybody: what is read of them ends, and what they give is a query or an error.
func FuzzReadRules(f *testing.F) {
	f.Add("externalRules: [{seriesQuery: x, metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)'}]",
		"x", "v")
	f.Add(
		"rules: [{seriesQuery: x_total, name: {matches: ^(.*)_total$}, metricsQuery: '<<index .LabelValuesByName \"a\">>'}]",
		"x",
		"1",
	)
	f.Add("rules: [{seriesQuery: x, metricsQuery: '<<range $k, $v := .LabelValuesByName>><<$k>><<end>>'}]", "x", "")
	f.Add("apiVersion: v1\nkind: ConfigMap\ndata: {config.yaml: 'rules: [{seriesQuery: x}]'}", "x", "")
	f.Fuzz(func(t *testing.T, text, metric, value string) {
		c, err := ReadRules("rules.yaml", []byte(text))
		if err != nil {
			return
		}
		for _, all := range [][]rule{c.Rules, c.ExternalRules} {
			r, series, err := findRule(all, metric, nil)
			if err != nil {
				continue
			}
			expr, err := r.expand(series, []matcher{{"a", "=", value}}, []string{"pod"})
			if err != nil {
				continue
			}
			if expr.Type() == parser.ValueTypeMatrix || expr.Type() == parser.ValueTypeString {
				continue // Reading the Forecast refuses them.
			}
			if _, err := parser.NewParser(parser.Options{}).ParseExpr(total(expr)); err != nil {
				t.Fatalf("%s: %v", total(expr), err)
			}
		}
	})
}
