package metricsapi

import (
	"context"
	"errors"
	"fmt"
	"math"
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
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// MetricDemand is the one metric that describes a Forecast object.
const MetricDemand = "demand"

// most is the first value whose thousandths overflow an int64. The HPA reads every metric in thousandths, so that a larger
// quantity, though the API could carry it, would arrive as a wrong number.
const most = math.MaxInt64 / 1000

var _ provider.MetricsProvider = (*Provider)(nil)

// Provider answers both metrics APIs from the board. It is safe for concurrent use.
type Provider struct {
	board *snapshot.Board
	now   func() time.Time
}

// New reads from the board; now is the clock against which the age of data is judged.
func New(board *snapshot.Board, now func() time.Time) *Provider {
	return &Provider{board: board, now: now}
}

// reading is one Forecast's value in the form that both APIs serve.
type reading struct {
	value     resource.Quantity
	timestamp metav1.Time
	window    int64
	labels    map[string]string
}

// read is the value of one Forecast under a metric selector. Errors are those of the API.
func (p *Provider) read(key snapshot.Key, selector labels.Selector) (reading, error) {
	newest := p.board.Load()
	if newest == nil {
		return reading{}, noData()
	}
	entry := newest.Get(key)
	if entry == nil {
		return reading{}, apierrors.NewNotFound(forecasts(), key.Name)
	}
	selection, err := parse(selector)
	if err != nil {
		return reading{}, refuse(key, err)
	}
	return p.answer(entry, selection)
}

func (p *Provider) answer(entry *snapshot.Entry, selection decide.Selection) (reading, error) {
	answer, err := entry.Answer(selection, p.now())
	if err != nil {
		return reading{}, refuse(entry.Key, err)
	}
	if !(answer.Value >= 0 && answer.Value < most) {
		return reading{}, refuse(entry.Key, fmt.Errorf("no metric can carry the value: %g is not from 0 to %.3g, "+
			"state the demand in a larger unit", answer.Value, float64(most)))
	}
	return reading{
		// Rounded up, so that it never asks for less than the forecast.
		value:     *resource.NewMilliQuantity(int64(math.Ceil(answer.Value*1000)), resource.DecimalSI),
		timestamp: metav1.Time{Time: answer.Time},
		window:    int64(answer.Window / time.Second),
		labels:    labelsOf(&answer, selection),
	}, nil
}

// labelsOf say to whoever asks for a model whether its value keeps the objective (rule: Headroom), or is its quantile.
func labelsOf(a *snapshot.Answer, asked decide.Selection) map[string]string {
	if asked.Model == "" {
		return nil
	}
	out := map[string]string{"model": asked.Model, "rule": string(a.Rule)}
	if a.Quantile > 0 {
		out["quantile"] = strconv.FormatFloat(a.Quantile, 'g', -1, 64)
	}
	return out
}

// refuse says to an HPA why its Forecast has no value: a selector that asks for what does not exist is the request's
// fault, all else is ours and may pass.
func refuse(key snapshot.Key, err error) error {
	message := fmt.Sprintf("forecast %s: %v", key, err)
	if errors.Is(err, decide.ErrSelection) {
		return apierrors.NewBadRequest(message)
	}
	return apierrors.NewServiceUnavailable(message)
}

func noData() error {
	return apierrors.NewServiceUnavailable("forewarm has no data yet: its first refresh is under way")
}

// forecasts are the Forecast objects as the custom metrics API names them.
func forecasts() schema.GroupResource {
	return v1alpha1.GroupVersion().WithResource("forecasts").GroupResource()
}

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
		MetricLabels:  r.labels,
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
