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

// A ratio is recognized through whatever passes its value on, a default by its number, and a condition that can leave nothing.
func TestDemandOf(t *testing.T) {
	for _, c := range []struct{ query, refused, number, empty string }{
		{"sum(a) / sum(b)", "a ratio", "", ""},
		{"(sum(a) / sum(b)) or vector(0)", "a ratio", "", ""},
		{"ceil(clamp_min(-(sum(a) / sum(b)), 1))", "a ratio", "", ""},
		{"sum(rate(a_sum[5m])) / sum(rate(a_count[5m])) > 0", "a ratio", "", ""},
		{"0 < sum(a) / sum(b)", "a ratio", "", ""},
		{"sum(x) / scalar(sum(y))", "a ratio", "", ""},
		{"100 * sum(busy) / sum(workers)", "a ratio", "", ""},
		{"1 + max(sum by (a) (x) / sum by (a) (y)) * 100 and on () up", "a ratio", "", ""},
		{"avg_over_time((sum(a) / sum(b))[5m:])", "a ratio", "", ""},
		{"sum(a / b)", "", "", ""},
		{"sum(a) / 60 + sum(b) / vector(2)", "", "", ""},
		{"sum(a) * (sum(b) / sum(c))", "", "", ""},
		{"sum(x) or vector(5)", "", "5", ""},
		{"ceil(max(sum(x) OR on() vector(0.5)))", "", "0.5", ""},
		{"sum(x) > 10", "", "", "yes"},
		{"sum(x > 10)", "", "", "yes"},
		{"sum(x) > bool 10", "", "", ""},
		{"sum(x) and on () hour() > 6", "", "", "yes"},
		{"sum(x) unless on () ALERTS", "", "", "yes"},
		{"sum(x) > 10 or vector(0)", "", "0", ""},
		{"x + 600 * deriv(x[10m])", "several operands with deriv", "", ""},
	} {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(c.query)
		if err != nil {
			t.Fatal(err)
		}
		demand, notes, err := demandOf(expr)
		if err != nil || c.refused != "" {
			if err == nil || c.refused == "" || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v, want %q", c.query, err, c.refused)
			}
			continue
		}
		if got := defaultOf(demand); got != c.number || (got == "") != (len(notes) == 0) ||
			got != "" && !strings.Contains(notes[0], "a demand of "+got+".") {
			t.Errorf("%s: default %q, %q, want %q", c.query, got, notes, c.number)
		}
		if mayBeEmpty(demand) != (c.empty != "") {
			t.Errorf("%s: may be empty: %v", c.query, !mayBeEmpty(demand))
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
		{`{x=""}`, "^(.*)_(total|sum)$", "a_${1}_${2}_rate", "cpu_rate", "", false},
		{`{x=""}`, "^(.*)_(total|sum)$", "a_${1}_${2}_rate", "a_cpu_sum_rate", "", true},
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
