package adopt_test

import (
	"strings"
	"testing"
)

// The query of a rule is judged as that of a trigger, and several series of a pod are said.
func TestQueriesOfRules(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"100 * sum(busy{<<.LabelMatchers>>}) / sum(workers{<<.LabelMatchers>>})":                         "left out: its query is a ratio of two series",
		"max(sum(x{<<.LabelMatchers>>}) or sum(x{<<.LabelMatchers>>} offset 7d))":                        "left out: its query combines several operands with offset",
		"sum(x{<<.LabelMatchers>>} offset 7d) by (<<.GroupBy>>)":                                         "offset 1w is removed from the query",
		"ceil(sum(x{<<.LabelMatchers>>}) by (<<.GroupBy>>, gpu))":                                        "The rule also groups by gpu. If a pod has several series, the HPA reads one of them",
		"histogram_quantile(0.9, sum(rate(x{<<.LabelMatchers>>}[5m])) by (le, namespace, <<.GroupBy>>))": "The HPA asks for the same number of replicas",
	} {
		rules := `rules: [{seriesQuery: x, name: {as: running}, resources: {template: <<.Resource>>}, metricsQuery: "` + query + `"}]`
		got := convert(t, rules, hpaOf("chat", onPods))
		var text strings.Builder
		for _, l := range got.LeftOut {
			text.WriteString("left out: " + l.Reason)
		}
		for _, d := range got.Converted {
			text.WriteString(strings.Join(d.Why, "\n"))
		}
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s: %q is missing: %s", query, want, text.String())
		}
	}
}

// KEDA takes an empty answer for 0 unless ignoreNullValues is false: if a query can be empty by itself, that is said.
func TestEmptyAnswers(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{"sum(x) > 10": true, "sum(x)": false} {
		got := convert(t, "", scaledObjectOf(onQuery(query, `threshold: "2"`), ""))
		if len(got.Converted) != 2 ||
			strings.Contains(strings.Join(got.Converted[0].Why, "\n"), "can return an empty result") != want {
			t.Errorf("%s: %+v", query, got)
		}
	}
}
