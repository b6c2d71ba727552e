package metricsapi_test

import (
	"cmp"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/metricsapi"
)

// exposing is a Forecast in shadow mode whose query has a value, under an alias of queue_messages_ready.
func exposing(namespace, name string, value float64, matched map[string]string) *snapshot.ForecastSnapshot {
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
	), nil, snapshottest.Now)
}

// An HPA that read another adapter asks for its metric and labels, and gets one item with both.
func TestExternalByAlias(t *testing.T) {
	for _, c := range casetest.Read[struct {
		About, Namespace, Metric, Selector string
		Want                               string // The value, or empty for an error.
		Labels                             map[string]string
		Code                               int32
		Words                              []string
	}](t, "alias.yaml") {
		t.Run(c.About, func(t *testing.T) {
			selector, err := labels.Parse(c.Selector)
			if err != nil {
				t.Fatal(err)
			}
			metric, namespace := cmp.Or(c.Metric, "Queue:messages_ready"), cmp.Or(c.Namespace, "inference")
			list, err := exposed().GetExternalMetric(t.Context(), namespace, selector, provider.ExternalMetricInfo{Metric: metric})
			if c.Want == "" {
				checkStatus(t, err, c.Code, c.Words)
				return
			}
			if err != nil || len(list.Items) != 1 {
				t.Fatal(list, err)
			}
			item := list.Items[0]
			if diff := gocmp.Diff(c.Labels, item.MetricLabels); diff != "" || item.Value.String() != c.Want ||
				item.MetricName != metric {
				t.Errorf("%s is %s, %s", item.MetricName, item.Value.String(), diff)
			}
		})
	}
}
