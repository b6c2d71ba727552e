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

// GetMetricByName answers an HPA's Object metric described by a Forecast. The HPA does not read the object, so an
// unknown Forecast is our 404.
func (p *Provider) GetMetricByName(
	_ context.Context, name types.NamespacedName, info provider.CustomMetricInfo, selector labels.Selector,
) (*custom_metrics.MetricValue, error) {
	if err := checkInfo(info); err != nil {
		return nil, err
	}
	key := snapshot.Key{Namespace: name.Namespace, Name: name.Name}
	r, err := p.read(key, selector)
	if err != nil {
		return nil, err
	}
	value := describe(key, r, selector)
	return &value, nil
}

// GetMetricBySelector answers for every Forecast of the namespace that serves a value ("*" in place of a name).
// Forecasts that serve none are left out, as are those for which a metric selector is not answered. Forecasts cannot be
// chosen by their labels: the metrics hold none.
func (p *Provider) GetMetricBySelector(
	_ context.Context,
	namespace string,
	objects labels.Selector,
	info provider.CustomMetricInfo,
	metric labels.Selector,
) (*custom_metrics.MetricValueList, error) {
	if err := checkInfo(info); err != nil {
		return nil, err
	}
	if objects != nil && !objects.Empty() {
		return nil, apierrors.NewBadRequest(
			"Forecasts are not selected by label here: name one, or leave labelSelector out for all of the namespace")
	}
	selection, err := parse(metric)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return p.list(namespace, selection, metric)
}

func (p *Provider) list(
	namespace string, selection decide.Selection, metric labels.Selector,
) (*custom_metrics.MetricValueList, error) {
	newest := p.board.Load()
	if newest == nil {
		return nil, noData()
	}
	list := &custom_metrics.MetricValueList{Items: []custom_metrics.MetricValue{}}
	for _, entry := range newest.All(namespace) {
		if r, err := p.answer(entry, selection); err == nil {
			list.Items = append(list.Items, describe(entry.Key, r, metric))
		}
	}
	return list, nil
}

// ListAllMetrics is the one metric of Forecasts.
func (*Provider) ListAllMetrics() []provider.CustomMetricInfo {
	return []provider.CustomMetricInfo{{GroupResource: forecasts(), Namespaced: true, Metric: MetricDemand}}
}

func checkInfo(info provider.CustomMetricInfo) error {
	switch {
	case info.GroupResource != forecasts():
		return provider.NewMetricNotFoundError(info.GroupResource, info.Metric)
	case !info.Namespaced:
		return apierrors.NewBadRequest("Forecasts have a namespace: ask under /namespaces/NAMESPACE/")
	case info.Metric != MetricDemand:
		return apierrors.NewBadRequest(
			fmt.Sprintf("a Forecast has no metric %.64q, the only one is %q", info.Metric, MetricDemand))
	}
	return nil
}

func describe(key snapshot.Key, r reading, selector labels.Selector) custom_metrics.MetricValue {
	return custom_metrics.MetricValue{
		DescribedObject: custom_metrics.ObjectReference{
			APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.ForecastKind,
			Namespace: key.Namespace, Name: key.Name,
		},
		Metric:        custom_metrics.MetricIdentifier{Name: MetricDemand, Selector: identify(selector)},
		Timestamp:     r.timestamp,
		WindowSeconds: &r.window,
		Value:         r.value,
	}
}
