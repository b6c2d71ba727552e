package metricsapi

import (
	"context"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/metrics/pkg/apis/external_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/forewarm/forewarm/pkg/snapshot"
)

// GetExternalMetric answers for the Forecast that carries the metric's name in the namespace, by exactly one item: the
// HPA sums items.
func (p *Provider) GetExternalMetric(
	_ context.Context, namespace string, selector labels.Selector, info provider.ExternalMetricInfo,
) (*external_metrics.ExternalMetricValueList, error) {
	r, err := p.read(snapshot.Key{Namespace: namespace, Name: info.Metric}, selector)
	if err != nil {
		return nil, err
	}
	return &external_metrics.ExternalMetricValueList{Items: []external_metrics.ExternalMetricValue{{
		MetricName:    info.Metric,
		Timestamp:     r.timestamp,
		WindowSeconds: &r.window,
		Value:         r.value,
	}}}, nil
}

// ListAllExternalMetrics is the names of all Forecasts, each once: discovery has no namespaces.
func (p *Provider) ListAllExternalMetrics() []provider.ExternalMetricInfo {
	newest := p.board.Load()
	if newest == nil {
		return nil
	}
	keys := newest.Keys()
	out := make([]provider.ExternalMetricInfo, 0, len(keys))
	seen := make(map[string]bool, len(keys))
	for _, key := range keys {
		if !seen[key.Name] {
			seen[key.Name] = true
			out = append(out, provider.ExternalMetricInfo{Metric: key.Name})
		}
	}
	return out
}
