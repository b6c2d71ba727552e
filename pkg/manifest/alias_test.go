package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

func TestExpose(t *testing.T) {
	resolve := func(fields string) (refresh.Job, field.ErrorList) {
		return manifest.NewResolver(catalogue{}).Resolve(object(t, header+spec(fields)))
	}
	good, problems := resolve("expose: {metric: Queue:messages_ready, matchLabels: {queue: orders}}")
	want := &snapshot.Alias{Metric: "Queue:messages_ready", Labels: map[string]string{"queue": "orders"}}
	if diff := cmp.Diff(want, good.Alias); diff != "" || len(problems) > 0 {
		t.Error(problems, diff)
	}
	for expose, problem := range map[string]string{
		"{matchLabels: {queue: orders}}":           "spec.expose.metric: Invalid value",
		"{metric: a/b}":                            "write the name of the HPA's metric",
		"{metric: 'a{}'}":                          "write the name of the HPA's metric",
		"{metric: ..}":                             "write the name of the HPA's metric",
		"{metric: a, matchLabels: {_queue: x}}":    "spec.expose.matchLabels: Invalid value",
		"{metric: a, matchLabels: {queue: a b}}":   "spec.expose.matchLabels: Invalid value",
		"{metric: a, matchLabels: {model: llama}}": `"model": horizon, late, model, quantile, serve ask for another view of a Forecast: remove it`,
		"{metric: /, matchLabels: {late: a b}}":    "; spec.expose.matchLabels: Invalid value",
	} {
		if got, _ := resolve("expose: " + expose); !strings.Contains(got.Invalid, problem) || got.Alias != nil {
			t.Errorf("%s: %q with %v does not say %q", expose, got.Invalid, got.Alias, problem)
		}
	}
	// Nobody else takes an alias while its Forecast is being corrected.
	if got, _ := resolve("{expose: {metric: a}, step: 7m}"); got.Invalid == "" || got.Alias == nil {
		t.Errorf("%+v", got)
	}
}
