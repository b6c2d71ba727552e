package metricsapi_test

import (
	"cmp"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/metricsapi"
)

// exposing is a Forecast in shadow mode whose query has a value, under an alias of queue_messages_ready.
func exposing(namespace, name string, value float64, matched map[string]string) *snapshot.ForecastState {
	e := snapshottest.Ready(snapshot.Key{Namespace: namespace, Name: name})
	e.Alias = &snapshot.Alias{Metric: "Queue:messages_ready", Labels: matched}
	e.Settings.Mode, e.Sampled = decide.Shadow, value
	e.Decision = decide.Decide(e.Settings, 0, e.Inputs)
	return e
}

func exposed() *metricsapi.Provider {
	self := exposing("inference", "self", 5, map[string]string{"queue": "own"})
	self.Alias.Metric = "self"
	paused := exposing("inference", "paused", 7, map[string]string{"queue": "paused"})
	paused.Decision = decide.Pause{Capacity: 64, Target: 32}.Apply(paused.Decision, 50)
	return metricsapi.New(snapshottest.Store(self, paused,
		exposing("inference", "orders", 1_234_567.891, map[string]string{"queue": "orders"}),
		exposing("inference", "payments", 2, map[string]string{"queue": "payments", "region": "eu"}),
		exposing("other", "mail", 3, map[string]string{"queue": "mail"}),
		exposing("other", "total", 4, nil),
	), snapshottest.Now)
}

// An HPA that read another adapter asks for its metric and labels, and gets one item with both.
func TestExternalByAlias(t *testing.T) {
	for _, c := range []struct {
		about, namespace, metric, selector string
		want                               string // The value, or empty for an error.
		labels                             map[string]string
		code                               int32
		words                              []string
	}{
		{about: "its labels", selector: "queue=orders", want: "1234567891m", labels: map[string]string{"queue": "orders"}},
		{about: "as a set of one", selector: "queue in (orders)", want: "1234567891m", labels: map[string]string{"queue": "orders"}},
		{
			about: "another view beside them", selector: "region=eu,queue=payments,model=last-value,quantile=0.5,serve=shadow", want: "2",
			labels: map[string]string{"queue": "payments", "region": "eu", "model": "last-value", "rule": "Quantile", "quantile": "0.5"},
		},
		{about: "no labels, where one has none", namespace: "other", want: "4"},
		{about: "while paused", selector: "queue=paused", want: "100", labels: map[string]string{"queue": "paused"}},
		{about: "its own name", metric: "self", selector: "queue=own", want: "5", labels: map[string]string{"queue": "own"}},
		{
			about: "a selector that is broader than each", code: 404,
			words: []string{
				"no Forecast of the namespace exposes Queue:messages_ready{}", `{queue="orders"} (Forecast orders)`,
				`{queue="payments",region="eu"} (Forecast payments)`, "expose the sum that is asked for",
			},
		},
		{about: "a selector that is broader than one", selector: "queue=payments", code: 404, words: []string{"select exactly the labels of one"}},
		{about: "a selector that is narrower", selector: "queue=orders,region=eu", code: 404, words: []string{"select exactly"}},
		{about: "another namespace's", selector: "queue=mail", code: 404, words: []string{"no Forecast of the namespace exposes"}},
		{about: "several queues", selector: "queue in (orders,payments)", code: 400, words: []string{"single value", "exposed are"}},
		{about: "all queues but one", selector: "queue!=orders", code: 400, words: []string{"single value", "exposed are"}},
		{about: "a wrong view", selector: "queue=orders,horizon=x", code: 400, words: []string{"forecast inference/orders", "horizon"}},
		{about: "capitals count", metric: "queue:messages_ready", selector: "queue=orders", code: 404, words: []string{"not found"}},
		{about: "its name with labels of another", metric: "self", selector: "queue=other", code: 400, words: []string{"unknown key"}},
		{about: "a name knows no labels", metric: "orders", selector: "queue=orders", code: 400, words: []string{"unknown key"}},
		{about: "braces in a name", metric: `Queue:messages_ready{queue="orders"}`, code: 404, words: []string{"not found"}},
	} {
		t.Run(c.about, func(t *testing.T) {
			selector, err := labels.Parse(c.selector)
			if err != nil {
				t.Fatal(err)
			}
			metric, namespace := cmp.Or(c.metric, "Queue:messages_ready"), cmp.Or(c.namespace, "inference")
			list, err := exposed().GetExternalMetric(t.Context(), namespace, selector, provider.ExternalMetricInfo{Metric: metric})
			if c.want == "" {
				checkStatus(t, err, c.code, c.words)
				return
			}
			if err != nil || len(list.Items) != 1 {
				t.Fatal(list, err)
			}
			item := list.Items[0]
			if diff := gocmp.Diff(c.labels, item.MetricLabels); diff != "" || item.Value.String() != c.want ||
				item.MetricName != metric {
				t.Errorf("%s is %s, %s", item.MetricName, item.Value.String(), diff)
			}
		})
	}
}
