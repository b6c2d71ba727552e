package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
)

func TestExpose(t *testing.T) {
	for _, c := range []struct{ name, expose, problem string }{
		{"a metric of another adapter, and its labels", "{metric: Queue:messages_ready, matchLabels: {queue: orders}}", ""},
		{"no metric", "{matchLabels: {queue: orders}}", "spec.expose.metric: Invalid value"},
		{"a metric that ends the path", "{metric: a/b}", "write the name of the HPA's metric"},
		{"a metric in braces", "{metric: 'a{}'}", "write the name of the HPA's metric"},
		{"a metric of a parent folder", "{metric: ..}", "write the name of the HPA's metric"},
		{"a label that no selector can have", "{metric: a, matchLabels: {_queue: x}}", "spec.expose.matchLabels: Invalid value"},
		{"a value that no selector can have", "{metric: a, matchLabels: {queue: a b}}", "spec.expose.matchLabels: Invalid value"},
		{
			"a key of a view", "{metric: a, matchLabels: {queue: x, model: llama}}",
			`"model": horizon, late, model, quantile, serve ask for another view of a Forecast: remove it`,
		},
		{"two problems", "{metric: /, matchLabels: {late: a b}}", "spec.expose.matchLabels: Invalid value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, problems := manifest.NewResolver(catalogue{}).Resolve(object(t, header+spec("expose: "+c.expose)))
			if c.problem == "" {
				want := &snapshot.Alias{Metric: "Queue:messages_ready", Labels: map[string]string{"queue": "orders"}}
				if diff := cmp.Diff(want, got.Alias); diff != "" || len(problems) > 0 {
					t.Error(problems, diff)
				}
				return
			}
			if !strings.Contains(got.Invalid, c.problem) || got.Alias != nil {
				t.Errorf("%q with %v does not say %q", got.Invalid, got.Alias, c.problem)
			}
		})
	}
	// Nobody else takes an alias while its Forecast is being corrected.
	got, _ := manifest.NewResolver(catalogue{}).Resolve(object(t, header+spec("{expose: {metric: a}, step: 7m}")))
	if got.Invalid == "" || got.Alias == nil {
		t.Errorf("%+v", got)
	}
}
