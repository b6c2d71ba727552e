package promexpr_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

func TestSelectors(t *testing.T) {
	var got, names []string
	for _, s := range promexpr.Selectors(`sum(a{x="1"} offset 1h) + a{x="1"} + max_over_time({__name__=~"b|c",y!=""}[5m])`) {
		got, names = append(got, s.String()), append(names, promexpr.Names(s)...)
	}
	if want := []string{`a{x="1"}`, `{__name__=~"b|c",y!=""}`}; !slices.Equal(got, want) {
		t.Errorf("selectors %q, want %q", got, want)
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	if got := promexpr.Selectors(`sum(`); len(got) > 0 {
		t.Errorf("of no query: %v", got)
	}
}

func TestLabeled(t *testing.T) {
	got := promexpr.Labeled("doubt", map[string]string{"b": "sum(y)", "a": "sum(x)", "none": ""})
	if want := `label_replace(sum(x), "doubt", "a", "", "") or label_replace(sum(y), "doubt", "b", "", "")`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCluster(t *testing.T) {
	for cluster, valid := range map[promexpr.Cluster]bool{
		"": true, "cluster=eu-1": true, "a=b=c": true, "cluster": false, "cluster=": false, "=eu": false, "__name__=x": false,
	} {
		if err := cluster.Validate(); (err == nil) != valid {
			t.Errorf("%q: %v", cluster, err)
		}
	}
	root, err := parser.NewParser(parser.Options{}).ParseExpr(`sum(a) / b{cluster="eu"}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := promexpr.Cluster("cluster=eu").Limit(root); err != nil {
		t.Fatal(err)
	}
	if got, want := root.String(), `sum(a{cluster="eu"}) / b{cluster="eu"}`; got != want {
		t.Errorf("limited to %s, want %s", got, want)
	}
	if err := promexpr.Cluster("cluster=us").
		Limit(root); err == nil ||
		!strings.Contains(err.Error(), "is not allowed") {
		t.Errorf("an expression of another cluster: %v", err)
	}
	if err := promexpr.Cluster("eu").Limit(root); err == nil {
		t.Error("a cluster without a label is a limit")
	}
}
