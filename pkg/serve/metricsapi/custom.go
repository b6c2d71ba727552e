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

// GetMetricByName returns an HPA's Object metric of a Forecast or a GPUFleet. The HPA does not read the object, so an
// unknown object is a 404 here.
func (p *Provider) GetMetricByName(
	_ context.Context, name types.NamespacedName, info provider.CustomMetricInfo, selector labels.Selector,
) (*custom_metrics.MetricValue, error) {
	if err := p.checkInfo(info); err != nil {
		return nil, err
	}
	key := snapshot.Key{Namespace: name.Namespace, Name: name.Name}
	r, err := p.lookUpObject(key, info, selector)
	if err != nil {
		return nil, err
	}
	value := metricValue(key, info, r, selector)
	return &value, nil
}

func (p *Provider) lookUpObject(
	key snapshot.Key, info provider.CustomMetricInfo, selector labels.Selector,
) (servedMetric, error) {
	if info.Metric != metricSpare {
		return p.lookUp(key, selector)
	}
	state := p.fleets.Get(key)
	if state == nil {
		return servedMetric{}, apierrors.NewNotFound(fleets(), key.Name)
	}
	return p.spare(state, selector)
}

// GetMetricBySelector returns the values of all Forecasts, or GPUFleets, of the namespace that serve one for the metric
// selector ("*" in place of a name). They cannot be selected by labels: the metrics have none.
func (p *Provider) GetMetricBySelector(
	_ context.Context, namespace string, objects labels.Selector, info provider.CustomMetricInfo,
	metric labels.Selector,
) (*custom_metrics.MetricValueList, error) {
	if err := p.checkInfo(info); err != nil {
		return nil, err
	}
	if objects != nil && !objects.Empty() {
		return nil, apierrors.NewBadRequest(
			"labelSelector is not supported here: name one object, or omit labelSelector to get all objects of the " +
				"namespace")
	}
	if info.Metric == metricSpare {
		return p.listFleets(namespace, info, metric), nil
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
			list.Items = append(list.Items, metricValue(entry.Key, demandInfo(), r, metric))
		}
	}
	return list, nil
}

func (p *Provider) listFleets(
	namespace string, info provider.CustomMetricInfo, metric labels.Selector,
) *custom_metrics.MetricValueList {
	list := &custom_metrics.MetricValueList{Items: []custom_metrics.MetricValue{}}
	for _, state := range p.fleets.List(namespace) {
		if r, err := p.spare(state, metric); err == nil {
			list.Items = append(list.Items, metricValue(state.Key, info, r, metric))
		}
	}
	return list
}

// ListAllMetrics is the only metric of Forecasts, and that of GPUFleets if there is a store of them.
func (p *Provider) ListAllMetrics() []provider.CustomMetricInfo {
	all := []provider.CustomMetricInfo{demandInfo()}
	if p.fleets != nil {
		all = append(all, spareInfo())
	}
	return all
}

func demandInfo() provider.CustomMetricInfo {
	return provider.CustomMetricInfo{GroupResource: forecasts(), Namespaced: true, Metric: MetricDemand}
}

func spareInfo() provider.CustomMetricInfo {
	return provider.CustomMetricInfo{GroupResource: fleets(), Namespaced: true, Metric: metricSpare}
}

// checkInfo returns nil if the metric is one of ListAllMetrics.
func (p *Provider) checkInfo(info provider.CustomMetricInfo) error {
	for _, served := range p.ListAllMetrics() {
		kind := objectKind(served)
		switch {
		case info.GroupResource != served.GroupResource:
			continue
		case !info.Namespaced:
			return apierrors.NewBadRequest(kind + "s are namespaced: use /namespaces/NAMESPACE/")
		case info.Metric != served.Metric:
			return apierrors.NewBadRequest(
				fmt.Sprintf("a %s has no metric %.64q: its only metric is %q", kind, info.Metric, served.Metric))
		}
		return nil
	}
	return provider.NewMetricNotFoundError(info.GroupResource, info.Metric)
}

// objectKind is the kind of the objects that a metric describes.
func objectKind(info provider.CustomMetricInfo) string {
	if info.Metric == metricSpare {
		return "GPUFleet"
	}
	return v1alpha1.ForecastKind
}

func metricValue(
	key snapshot.Key, info provider.CustomMetricInfo, r servedMetric, selector labels.Selector,
) custom_metrics.MetricValue {
	return custom_metrics.MetricValue{
		DescribedObject: custom_metrics.ObjectReference{
			APIVersion: v1alpha1.GroupVersion().String(), Kind: objectKind(info),
			Namespace: key.Namespace, Name: key.Name,
		},
		Metric:        custom_metrics.MetricIdentifier{Name: info.Metric, Selector: labelSelector(selector)},
		Timestamp:     r.timestamp,
		WindowSeconds: &r.window,
		Value:         r.value,
	}
}
