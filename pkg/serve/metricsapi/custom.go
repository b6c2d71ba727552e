package metricsapi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// GetMetricByName returns an HPA's Object metric of a Forecast. The HPA does not read the object, so an unknown
// Forecast is a 404 here.
func (p *Provider) GetMetricByName(
	_ context.Context, name types.NamespacedName, info provider.CustomMetricInfo, selector labels.Selector,
) (*custom_metrics.MetricValue, error) {
	if err := checkInfo(info); err != nil {
		return nil, err
	}
	key := snapshot.Key{Namespace: name.Namespace, Name: name.Name}
	r, err := p.lookUp(key, selector)
	if err != nil {
		return nil, err
	}
	value := metricValue(key, r, selector)
	return &value, nil
}

// GetMetricBySelector returns the values of all Forecasts of the namespace that serve one for the metric selector ("*"
// in place of a name). Forecasts cannot be selected by labels: the metrics have none.
func (p *Provider) GetMetricBySelector(
	_ context.Context, namespace string, objects labels.Selector, info provider.CustomMetricInfo,
	metric labels.Selector,
) (*custom_metrics.MetricValueList, error) {
	if err := checkInfo(info); err != nil {
		return nil, err
	}
	if objects != nil && !objects.Empty() {
		return nil, apierrors.NewBadRequest(
			"labelSelector is not supported here: name one Forecast, or omit labelSelector to get all Forecasts " +
				"of the namespace")
	}
	selection, err := parseSelector(metric)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return p.list(namespace, selection, metric)
}

func (p *Provider) list(
	namespace string, selection decide.Overrides, metric labels.Selector,
) (*custom_metrics.MetricValueList, error) {
	newest := p.snapshots.Load()
	if newest == nil {
		return nil, noData()
	}
	list := &custom_metrics.MetricValueList{Items: []custom_metrics.MetricValue{}}
	for _, entry := range newest.Entries(namespace) {
		if r, err := p.answer(entry, selection); err == nil {
			list.Items = append(list.Items, metricValue(entry.Key, r, metric))
		}
	}
	return list, nil
}

// ListAllMetrics is the only metric of Forecasts.
func (*Provider) ListAllMetrics() []provider.CustomMetricInfo {
	return []provider.CustomMetricInfo{{GroupResource: forecasts(), Namespaced: true, Metric: MetricDemand}}
}

func checkInfo(info provider.CustomMetricInfo) error {
	switch {
	case info.GroupResource != forecasts():
		return provider.NewMetricNotFoundError(info.GroupResource, info.Metric)
	case !info.Namespaced:
		return apierrors.NewBadRequest("Forecasts are namespaced: use /namespaces/NAMESPACE/")
	case info.Metric != MetricDemand:
		return apierrors.NewBadRequest(
			fmt.Sprintf("a Forecast has no metric %.64q: its only metric is %q", info.Metric, MetricDemand))
	}
	return nil
}

func metricValue(key snapshot.Key, r servedMetric, selector labels.Selector) custom_metrics.MetricValue {
	return custom_metrics.MetricValue{
		DescribedObject: custom_metrics.ObjectReference{
			APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.ForecastKind,
			Namespace: key.Namespace, Name: key.Name,
		},
		Metric:        custom_metrics.MetricIdentifier{Name: MetricDemand, Selector: labelSelector(selector)},
		Timestamp:     r.timestamp,
		WindowSeconds: &r.window,
		Value:         r.value,
	}
}
