package metricsapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/metrics/pkg/apis/external_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// MetricDemand is the one metric that describes a Forecast object.
const MetricDemand = "demand"

var _ provider.MetricsProvider = (*Provider)(nil)

// Provider answers both metrics APIs from the stores. It is safe for concurrent use.
type Provider struct {
	snapshots *snapshot.Store
	fleets    *fleet.Store
	now       func() time.Time
}

// New returns a provider over the stores; the age of data is measured by now. Without fleets, which may be nil, GPUFleets
// have no metric.
func New(snapshots *snapshot.Store, fleets *fleet.Store, now func() time.Time) *Provider {
	return &Provider{snapshots: snapshots, fleets: fleets, now: now}
}

// servedMetric is the value of one Forecast or GPUFleet in the form that both APIs serve.
type servedMetric struct {
	value     resource.Quantity
	timestamp metav1.Time
	window    int64
	labels    map[string]string
}

// lookUp returns the value of one Forecast under a metric selector. Its errors are API statuses.
func (p *Provider) lookUp(key snapshot.Key, selector labels.Selector) (servedMetric, error) {
	newest := p.snapshots.Load()
	if newest == nil {
		return servedMetric{}, noData()
	}
	entry := newest.Get(key)
	if entry == nil {
		return servedMetric{}, apierrors.NewNotFound(forecasts(), key.Name)
	}
	selection, err := parseSelector(selector)
	if err != nil {
		return servedMetric{}, statusError(key, err)
	}
	return p.answer(entry, selection)
}

func (p *Provider) answer(entry *snapshot.ForecastSnapshot, selection decide.Overrides) (servedMetric, error) {
	answer, err := entry.Answer(selection, p.now())
	return served(entry, &answer, selection, err)
}

// served returns the answer of an entry, or an error that says why there is none.
func served(
	entry *snapshot.ForecastSnapshot, answer *snapshot.Answer, selection decide.Overrides, err error,
) (servedMetric, error) {
	if err != nil {
		return servedMetric{}, statusError(entry.Key, err)
	}
	milli, ok := hpa.Milli(answer.Value)
	if !ok {
		return servedMetric{}, statusError(entry.Key, fmt.Errorf("value %g is not a valid metric value: expected 0 to "+
			"%.3g; use a larger unit for the demand", answer.Value, float64(hpa.MaxValue)))
	}
	return servedMetric{
		value:     *resource.NewMilliQuantity(milli, resource.DecimalSI),
		timestamp: metav1.Time{Time: answer.Time},
		window:    int64(answer.Window / time.Second),
		labels:    modelLabels(answer, selection),
	}, nil
}

// modelLabels returns the labels for a selected model. They show whether the value has headroom for the objective (rule: Headroom) or is a
// quantile.
func modelLabels(a *snapshot.Answer, asked decide.Overrides) map[string]string {
	if asked.Model == "" {
		return nil
	}
	out := map[string]string{"model": asked.Model, "rule": string(a.Rule)}
	if a.Quantile > 0 {
		out["quantile"] = strconv.FormatFloat(a.Quantile, 'g', -1, 64)
	}
	return out
}

// statusError says why a Forecast has no value: 400 if the selector is wrong, and 503 for all other causes, which may pass.
func statusError(key snapshot.Key, err error) error {
	message := fmt.Sprintf("forecast %s: %v", key, err)
	if errors.Is(err, decide.ErrSelector) {
		return apierrors.NewBadRequest(message)
	}
	return apierrors.NewServiceUnavailable(message)
}

func noData() error {
	return apierrors.NewServiceUnavailable("Forewarm has no data yet: the first refresh is in progress, try again")
}

// forecasts is the resource of Forecast objects in the custom metrics API.
func forecasts() schema.GroupResource {
	return v1alpha1.GroupVersion().WithResource("forecasts").GroupResource()
}

// GetExternalMetric returns the value of the Forecast with the name of the metric, or else with that alias, or else of the
// GPUFleet with that name and the suffix -spare, as exactly one item: the HPA sums items.
func (p *Provider) GetExternalMetric(
	_ context.Context, namespace string, selector labels.Selector, info provider.ExternalMetricInfo,
) (*external_metrics.ExternalMetricValueList, error) {
	r, err := p.lookUpExternal(snapshot.Key{Namespace: namespace, Name: info.Metric}, selector)
	if err != nil {
		return nil, err
	}
	return &external_metrics.ExternalMetricValueList{Items: []external_metrics.ExternalMetricValue{{
		MetricName:    info.Metric,
		MetricLabels:  r.labels,
		Timestamp:     r.timestamp,
		WindowSeconds: &r.window,
		Value:         r.value,
	}}}, nil
}

// ListAllExternalMetrics is one constant resource, as KEDA's adapter has it: discovery is for everybody, and the names of
// Forecasts, and their aliases, are not. Clients of external metrics ask by name and need no discovery.
func (*Provider) ListAllExternalMetrics() []provider.ExternalMetricInfo {
	return []provider.ExternalMetricInfo{{Metric: "externalmetrics"}}
}
