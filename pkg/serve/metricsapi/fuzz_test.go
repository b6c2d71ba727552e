package metricsapi_test

import (
	"errors"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/metricsapi"
)

// Whatever a selector says, the answer is one finite item or an error of the API that blames no one else.
func FuzzSelector(f *testing.F) {
	for _, seed := range []string{
		"", "quantile=0.99", "horizon=5m,quantile=0.9", "quantile in (0.5)", "quantile in (0.5,0.6)", "quantile!=0.5",
		"quantile", "!quantile", "late=1e-300", "quantile=NaN", "horizon=9999999h", "horizon=-1s", "model=ARIMA", "serve=shadow",
		"a/b=c", "quantile=0.5,quantile=0.6", "horizon>5", "queue=orders", "queue in (orders),quantile=0.5", "queue!=orders",
	} {
		f.Add(seed, 118.5)
	}
	f.Fuzz(func(t *testing.T, text string, value float64) {
		selector, err := labels.Parse(text)
		if err != nil {
			return
		}
		entry := snapshottest.Ready(snapshottest.Key("ready"))
		entry.Decision.Value, entry.Observed = value, value
		p := metricsapi.New(snapshottest.Store(entry), nil, snapshottest.Now)
		named, alias := provider.ExternalMetricInfo{
			Metric: "ready",
		}, provider.ExternalMetricInfo{
			Metric: "Queue:messages_ready",
		}
		list, err := p.GetExternalMetric(t.Context(), "inference", selector, named)
		byAlias, wrong := exposed().GetExternalMetric(t.Context(), "inference", selector, alias)
		if wrong == nil &&
			(len(byAlias.Items) != 1 || !selector.Matches(labels.Merge(views(selector), byAlias.Items[0].MetricLabels))) {
			t.Fatalf("%q: %+v by an alias", text, byAlias)
		}
		if err != nil {
			var status apierrors.APIStatus
			if !errors.As(err, &status) {
				t.Fatalf("%q: %v is no API status", text, err)
			}
			if code := status.Status().Code; code != http.StatusBadRequest && code != http.StatusServiceUnavailable {
				t.Fatalf("%q: code %d", text, code)
			}
			return
		}
		served := float64(list.Items[0].Value.MilliValue()) / 1000
		if len(list.Items) != 1 || served < 0 {
			t.Fatalf("%q: %d items, value %g", text, len(list.Items), served)
		}
		if text == "" && (served < value*(1-1e-12) || served > value*(1+1e-12)+0.001) {
			t.Fatalf("%g is served as %g", value, served)
		}
	})
}

// views are the pairs of a selector that ask for another view of a Forecast.
func views(selector labels.Selector) labels.Set {
	out := labels.Set{}
	for _, key := range decide.SelectorKeys() {
		if value, asked := selector.RequiresExactMatch(key); asked {
			out[key] = value
		}
	}
	return out
}
