package metricsapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/fleet/fleettest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/metricsapi"
)

func withFleets() *metricsapi.Provider {
	return metricsapi.New(snapshottest.Store(snapshottest.EveryState()...), fleettest.Store(), snapshottest.Now)
}

func spare() provider.CustomMetricInfo {
	return provider.CustomMetricInfo{
		GroupResource: schema.GroupResource{Group: "forewarm.dev", Resource: "gpufleets"},
		Namespaced:    true, Metric: "spare",
	}
}

func h100() types.NamespacedName { return types.NamespacedName{Namespace: "inference", Name: "h100"} }

func TestSpareIsOneItem(t *testing.T) {
	p := withFleets()
	list, err := external(t, p, "h100-spare", "batch=embeddings")
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].MetricName != "h100-spare" || list.Items[0].Value.String() != "12" ||
		*list.Items[0].WindowSeconds != 1200 ||
		!list.Items[0].Timestamp.Time.Equal(snapshottest.Now().Add(-15*time.Second)) {
		t.Errorf("%+v", list.Items)
	}
	if diff := cmp.Diff(map[string]string{"batch": "embeddings"}, list.Items[0].MetricLabels); diff != "" {
		t.Error(diff)
	}
	none, err := external(t, p, "h100-spare", "batch in (evals)")
	if err != nil || none.Items[0].Value.Sign() != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	object, err := p.GetMetricByName(t.Context(), h100(), spare(),
		labels.SelectorFromSet(labels.Set{"batch": "embeddings"}))
	if err != nil {
		t.Fatal(err)
	}
	if o := object.DescribedObject; object.Value.String() != "12" || object.Metric.Name != "spare" ||
		o.Kind != "GPUFleet" || o.APIVersion != "forewarm.dev/v1alpha1" || o.Name != "h100" || o.Namespace != "inference" {
		t.Errorf("%+v", object)
	}
}

func TestSpareErrors(t *testing.T) {
	for _, c := range []struct {
		fleet, selector string
		code            int32
		words           []string
	}{
		{"h100", "", 400, []string{"fleet inference/h100", `consumer ""`, "embeddings and evals", "{batch: NAME}"}},
		{"h100", "batch=training", 400, []string{`"training"`, "embeddings and evals", "used twice"}},
		{"h100", "batch=embeddings,quantile=0.9", 400, []string{`"quantile"`, "batch"}},
		{"h100", "batch!=evals", 400, []string{"batch!=evals"}},
		{"h100", "batch in (embeddings,evals)", 400, []string{"single value"}},
		{"stale", "batch=embeddings", 503, []string{"3m15s old"}},
		{"broken", "batch=embeddings", 503, []string{"there is no plan: Forecast <chat> does not exist"}},
		{"missing", "batch=embeddings", 404, []string{"not found"}},
		{"secret", "batch=embeddings", 404, []string{"not found"}}, // It is in another namespace.
	} {
		t.Run(c.fleet+" "+c.selector, func(t *testing.T) {
			_, err := external(t, withFleets(), c.fleet+"-spare", c.selector)
			checkStatus(t, err, c.code, c.words)
			selector, err := labels.Parse(c.selector)
			if err != nil {
				t.Fatal(err)
			}
			name := types.NamespacedName{Namespace: "inference", Name: c.fleet}
			_, err = withFleets().GetMetricByName(t.Context(), name, spare(), selector)
			checkStatus(t, err, c.code, c.words)
		})
	}
}

func TestSpareIsStaleByTheClock(t *testing.T) {
	late := func() time.Time { return snapshottest.Now().Add(106 * time.Second) }
	p := metricsapi.New(snapshottest.Store(), fleettest.Store(), late)
	_, err := external(t, p, "h100-spare", "batch=embeddings")
	checkStatus(t, err, http.StatusServiceUnavailable, []string{"the newest plan is 2m1s old"})
}

// Readers that were there before a fleet keep their metric.
func TestAForecastWinsOverAFleet(t *testing.T) {
	entry := snapshottest.Ready(snapshottest.Key("h100-spare"))
	aliased := snapshottest.Ready(snapshottest.Key("queue"))
	aliased.Alias = &snapshot.Alias{Metric: "stale-spare"}
	p := metricsapi.New(snapshottest.Store(entry, aliased), fleettest.Store(), snapshottest.Now)
	for _, name := range []string{"h100-spare", "stale-spare"} {
		list, err := external(t, p, name, "")
		if err != nil || list.Items[0].Value.String() != "139237m" {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
	early := metricsapi.New(&snapshot.Store{}, fleettest.Store(), snapshottest.Now)
	_, err := external(t, early, "h100-spare", "batch=evals")
	checkStatus(t, err, http.StatusServiceUnavailable, []string{"no data yet"})
}

func TestWithoutFleetsThereIsNoSpare(t *testing.T) {
	p := everyState()
	_, err := external(t, p, "h100-spare", "batch=embeddings")
	checkStatus(t, err, http.StatusNotFound, []string{"h100-spare"})
	_, err = p.GetMetricByName(t.Context(), h100(), spare(), labels.Everything())
	checkStatus(t, err, http.StatusNotFound, []string{"gpufleets"})
	want := []provider.CustomMetricInfo{demand(), spare()}
	if diff := cmp.Diff(want, withFleets().ListAllMetrics()); diff != "" {
		t.Error(diff)
	}
	empty := metricsapi.New(snapshottest.Store(), &fleet.Store{}, snapshottest.Now)
	_, err = external(t, empty, "h100-spare", "batch=evals")
	checkStatus(t, err, http.StatusNotFound, []string{"h100-spare"})
}

func TestCustomMetricsOfFleets(t *testing.T) {
	p := withFleets()
	list, err := p.GetMetricBySelector(t.Context(), "inference", labels.Everything(), spare(),
		labels.SelectorFromSet(labels.Set{"batch": "embeddings"}))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.DescribedObject.Name)
	}
	if diff := cmp.Diff([]string{"h100", "unlimited"}, names); diff != "" {
		t.Error("those that serve: ", diff)
	}
	wrong := spare()
	wrong.Metric = "demand"
	_, err = p.GetMetricBySelector(t.Context(), "inference", labels.Everything(), wrong, labels.Everything())
	checkStatus(t, err, http.StatusBadRequest, []string{"a GPUFleet has no metric", `"spare"`})
	mixed := demand()
	mixed.Metric = "spare"
	_, err = p.GetMetricBySelector(t.Context(), "inference", labels.Everything(), mixed, labels.Everything())
	checkStatus(t, err, http.StatusBadRequest, []string{"a Forecast has no metric", `"demand"`})
}
