package metricsapi_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/metrics/pkg/apis/external_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/metricsapi"
)

func everyState() *metricsapi.Provider {
	return metricsapi.New(snapshottest.Store(snapshottest.EveryState()...), nil, snapshottest.Now)
}

func external(
	t *testing.T, p *metricsapi.Provider, name, selector string,
) (*external_metrics.ExternalMetricValueList, error) {
	t.Helper()
	parsed, err := labels.Parse(selector)
	if err != nil {
		t.Fatal(err)
	}
	return p.GetExternalMetric(t.Context(), "inference", parsed, provider.ExternalMetricInfo{Metric: name})
}

func TestExternalIsOneItemOfTheDecision(t *testing.T) {
	entry := snapshottest.Ready(snapshottest.Key("ready"))
	list, err := external(t, everyState(), "ready", "")
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 {
		t.Fatalf("%d items, want exactly 1: the HPA sums them", len(list.Items))
	}
	item := list.Items[0]
	if got, want := item.Value.MilliValue(), int64(math.Ceil(entry.Decision.Value*1000)); got != want {
		t.Errorf("value %dm, want %dm", got, want)
	}
	if !item.Timestamp.Time.Equal(entry.SampleTime) {
		t.Errorf("timestamp %s, want that of the newest sample %s", item.Timestamp, entry.SampleTime)
	}
	if item.WindowSeconds == nil || *item.WindowSeconds != 375 {
		t.Errorf("window %v, want 375 s", item.WindowSeconds)
	}
	if item.MetricName != "ready" {
		t.Errorf("metric name %q", item.MetricName)
	}
}

func TestExternalSelectors(t *testing.T) {
	value := func(selector string) float64 {
		t.Helper()
		list, err := external(t, everyState(), "ready", selector)
		if err != nil {
			t.Fatalf("%s: %v", selector, err)
		}
		return list.Items[0].Value.AsApproximateFloat64()
	}
	own := value("")
	if q := value("quantile=0.99"); q <= own {
		t.Errorf("quantile 0.99 is %g, want more than the own %g", q, own)
	}
	if q := value("quantile in (0.99)"); q != value("quantile==0.99") {
		t.Errorf("a one-valued in and = differ")
	}
	if h := value("horizon=1h"); h <= own {
		t.Errorf("horizon 1h is %g, want more than the own %g", h, own)
	}
	if v := value("serve=shadow"); v >= own {
		t.Errorf("shadow is %g, want the observed, less than %g", v, own)
	}
	if v := value("model=last-value,quantile=0.5"); v >= own {
		t.Errorf("the median of the last value is %g, want less than %g", v, own)
	}
}

// A client that asks for a model is told by what rule the value is its: here no autoscaler asks for it, so that it is a quantile.
func TestAModelReportsItsRule(t *testing.T) {
	list, err := external(t, everyState(), "objective", "model=last-value")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"model": "last-value", "rule": "Quantile", "quantile": "0.95"}
	if diff := cmp.Diff(want, list.Items[0].MetricLabels); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	list, err = external(t, everyState(), "objective", "late=0.01")
	if err != nil || list.Items[0].MetricLabels != nil {
		t.Errorf("%v, %v: labels where no model was asked for", list, err)
	}
}

func TestExternalErrorsSayWhatToDo(t *testing.T) {
	for _, test := range casetest.Read[struct {
		Name, Metric, Selector string
		Code                   int32
		Words                  []string
	}](t, "errors.yaml") {
		t.Run(test.Name, func(t *testing.T) {
			_, err := external(t, everyState(), test.Metric, test.Selector)
			checkStatus(t, err, test.Code, test.Words)
		})
	}
}

func checkStatus(t *testing.T, err error, code int32, words []string) {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		t.Fatalf("error %v is no API status", err)
	}
	if got := status.Status().Code; got != code {
		t.Errorf("code %d (%v), want %d", got, err, code)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
}

func TestNothingSelectable(t *testing.T) {
	_, err := everyState().GetExternalMetric(
		t.Context(), "inference", labels.Nothing(), provider.ExternalMetricInfo{Metric: "ready"})
	checkStatus(t, err, http.StatusBadRequest, []string{"matches nothing"})
}

func TestEmptyBoardIsUnavailable(t *testing.T) {
	p := metricsapi.New(&snapshot.Store{}, nil, snapshottest.Now)
	_, err := external(t, p, "ready", "")
	checkStatus(t, err, http.StatusServiceUnavailable, []string{"no data yet"})
	_, err = p.GetMetricBySelector(t.Context(), "inference", labels.Everything(), demand(), labels.Everything())
	checkStatus(t, err, http.StatusServiceUnavailable, []string{"no data yet"})
}

// Data grows old between two refreshes: the clock decides, not the state of the snapshot.
func TestStaleByTheClock(t *testing.T) {
	snapshots := snapshottest.Store(snapshottest.Ready(snapshottest.Key("ready")))
	later := func() time.Time { return snapshottest.Now().Add(11 * time.Minute) }
	_, err := external(t, metricsapi.New(snapshots, nil, later), "ready", "")
	checkStatus(t, err, http.StatusServiceUnavailable, []string{"11m30s old"})
}

func TestValuesAreNeverWrong(t *testing.T) {
	tests := []struct {
		name  string
		value float64
		want  string // Empty: refused with 503.
	}{
		{"zero", 0, "0"},
		{"a thousandth is rounded up", 0.0001, "1m"},
		{"a third is rounded up", 1.0 / 3, "334m"},
		{"a whole number stays", 4000, "4k"},
		{"the largest that fits", 9.2e15, "9200T"},
		{"beyond thousandths", 9.3e15, ""},
		{"beyond int64", 1e19, ""},
		{"infinite", math.Inf(1), ""},
		{"not a number", math.NaN(), ""},
		{"negative", -0.001, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			entry := snapshottest.Ready(snapshottest.Key("ready"))
			entry.Decision.Value = test.value
			list, err := external(t, metricsapi.New(snapshottest.Store(entry), nil, snapshottest.Now), "ready", "")
			if test.want == "" {
				checkStatus(t, err, http.StatusServiceUnavailable, []string{"larger unit"})
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := list.Items[0].Value; got.Cmp(resource.MustParse(test.want)) != 0 {
				t.Errorf("%s, want %s", got.String(), test.want)
			}
		})
	}
}

// Discovery has no namespaces, and so no names of Forecasts.
func TestDiscoveryNamesNoForecast(t *testing.T) {
	got := exposed().ListAllExternalMetrics()
	if diff := cmp.Diff([]provider.ExternalMetricInfo{{Metric: "externalmetrics"}}, got); diff != "" {
		t.Error(diff)
	}
}

func demand() provider.CustomMetricInfo {
	return provider.CustomMetricInfo{
		GroupResource: schema.GroupResource{Group: "forewarm.dev", Resource: "forecasts"},
		Namespaced:    true, Metric: "demand",
	}
}

func TestCustomIsTheSameValueAsExternal(t *testing.T) {
	p := everyState()
	if got := p.ListAllMetrics(); len(got) != 1 || got[0] != demand() {
		t.Errorf("lists %v", got)
	}
	list, err := external(t, p, "ready", "quantile=0.99")
	if err != nil {
		t.Fatal(err)
	}
	value, err := p.GetMetricByName(
		t.Context(), types.NamespacedName{Namespace: "inference", Name: "ready"}, demand(),
		labels.SelectorFromSet(labels.Set{"quantile": "0.99"}))
	if err != nil {
		t.Fatal(err)
	}
	if value.Value.Cmp(list.Items[0].Value) != 0 {
		t.Errorf("custom %s, external %s", value.Value.String(), list.Items[0].Value.String())
	}
	if diff := cmp.Diff(map[string]string{"quantile": "0.99"}, value.Metric.Selector.MatchLabels); diff != "" {
		t.Error(diff)
	}
	if o := value.DescribedObject; o.Kind != "Forecast" || o.APIVersion != "forewarm.dev/v1alpha1" ||
		o.Name != "ready" {
		t.Errorf("described object %+v", o)
	}
}

func TestCustomErrors(t *testing.T) {
	pods, requests, root := demand(), demand(), demand()
	pods.GroupResource = schema.GroupResource{Resource: "pods"}
	requests.Metric = "requests"
	root.Namespaced = false
	tests := []struct {
		name, forecast string
		info           provider.CustomMetricInfo
		code           int32
		words          []string
	}{
		{"another resource", "ready", pods, 404, []string{"pods", "demand"}},
		{"another metric", "ready", requests, 400, []string{`"requests"`, `"demand"`}},
		{"no namespace", "ready", root, 400, []string{"/namespaces/"}},
		{"an unknown Forecast", "missing", demand(), 404, []string{"not found"}},
		{"stale", "stale", demand(), 503, []string{"42m old"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			name := types.NamespacedName{Namespace: "inference", Name: test.forecast}
			_, err := everyState().GetMetricByName(t.Context(), name, test.info, labels.Everything())
			checkStatus(t, err, test.code, test.words)
		})
	}
}

func TestCustomOfAllForecasts(t *testing.T) {
	p := everyState()
	list, err := p.GetMetricBySelector(t.Context(), "inference", labels.Everything(), demand(), labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.DescribedObject.Name)
	}
	if diff := cmp.Diff([]string{"falling-back", "objective", "ready", "warming"}, names); diff != "" {
		t.Error("those that serve: ", diff)
	}
	_, err = p.GetMetricBySelector(
		t.Context(), "inference", labels.SelectorFromSet(labels.Set{"app": "x"}), demand(), labels.Everything())
	checkStatus(t, err, http.StatusBadRequest, []string{"name one"})
}

// requests are what an HPA may send: without a selector, with one and with two pairs.
func requests(tb testing.TB) map[string]labels.Selector {
	tb.Helper()
	out := make(map[string]labels.Selector)
	for _, s := range []string{"", "quantile=0.99", "horizon=5m,quantile=0.99"} {
		parsed, err := labels.Parse(s)
		if err != nil {
			tb.Fatal(err)
		}
		out["selector="+s] = parsed
	}
	return out
}

func TestAllocations(t *testing.T) {
	p := metricsapi.New(snapshottest.Store(snapshottest.Many(50)...), nil, snapshottest.Now)
	info := provider.ExternalMetricInfo{Metric: "model-7"}
	for name, selector := range requests(t) {
		got := testing.AllocsPerRun(100, func() {
			if _, err := p.GetExternalMetric(context.Background(), "team-0", selector, info); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%s: %g allocations", name, got)
		if got > 10 {
			t.Errorf("%s: %g allocations, want at most 10", name, got)
		}
	}
}

func BenchmarkProvider(b *testing.B) {
	p := metricsapi.New(snapshottest.Store(snapshottest.Many(1000)...), nil, snapshottest.Now)
	info := provider.ExternalMetricInfo{Metric: "model-7"}
	for name, selector := range requests(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.GetExternalMetric(context.Background(), "team-0", selector, info); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
