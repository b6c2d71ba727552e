package explain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	custom "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	external "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// readMetric reads one metric and the Forecast behind it. One that the user may not read is taken from the HPA's status.
func (r *reader) readMetric(ctx context.Context, s *reading, i int) {
	read := &s.Metrics[i]
	values, group, err := r.readValues(ctx, servedAs(read.Of))
	read.Reading, read.From = hpa.Reading{Values: values}, group
	if err != nil {
		read.Reading, read.From = hpa.Reading{Err: errors.New(client.APIMessage(err))}, ""
	}
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		if milli, found := byStatus(&s.Input, i); found {
			read.Reading, read.From = hpa.Reading{Values: []int64{milli}}, "the HPA's status"
			s.note("metric %s (the HPA's status is used instead): %s", read.Of.Name, client.APIMessage(err))
		}
	}
	if read.Of.Forecast != "" {
		read.Forecast = r.readForecast(ctx, s, read.Of)
	}
}

// servedAs returns the metric as Forewarm serves it. A trigger of KEDA has the name of its Forecast, and its keys select the value.
func servedAs(m *hpa.AutoscalerMetric) *hpa.AutoscalerMetric {
	if m.Metadata == nil {
		return m
	}
	out := *m
	out.Name, out.Labels = m.Forecast, autoscaler.Selection(m)
	if m.Fleet != "" {
		out.Name, out.Labels = m.Fleet+fleet.MetricSuffix, map[string]string{"batch": m.Batch}
	}
	out.Selector = labels.Set(out.Labels).String()
	return &out
}

// readValues reads a metric from the API that serves it, in milli-units.
func (r *reader) readValues(
	ctx context.Context, m *hpa.AutoscalerMetric,
) (values []int64, group string, err error) {
	if m.Source == hpa.External {
		values, err = r.readExternal(ctx, m)
		return values, external.SchemeGroupVersion.Group, err
	}
	values, err = r.readObject(ctx, m)
	return values, custom.SchemeGroupVersion.Group, err
}

func (r *reader) readExternal(ctx context.Context, m *hpa.AutoscalerMetric) ([]int64, error) {
	var list external.ExternalMetricValueList
	err := r.get(ctx, &list, "labelSelector", m.Selector, external.SchemeGroupVersion.Group,
		external.SchemeGroupVersion.Version, "namespaces", r.Namespace, m.Name)
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, fmt.Errorf("no value of %s is served", m.Name)
	}
	values := make([]int64, len(list.Items))
	for i := range list.Items {
		values[i] = milliOf(&list.Items[i].Value)
	}
	return values, nil
}

func (r *reader) readObject(ctx context.Context, m *hpa.AutoscalerMetric) ([]int64, error) {
	of := m.Described
	kind := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
	mapping, err := r.mapper.RESTMapping(kind.GroupKind())
	if err != nil {
		return nil, err
	}
	var list custom.MetricValueList
	for _, version := range []string{custom.SchemeGroupVersion.Version, "v1beta1"} {
		// Both versions have a value, and nothing else is read.
		err = r.get(ctx, &list, "metricLabelSelector", m.Selector, custom.SchemeGroupVersion.Group, version,
			"namespaces", r.Namespace, mapping.Resource.GroupResource().String(), of.Name, m.Name)
		if err == nil || !apierrors.IsNotFound(err) {
			break
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(list.Items) != 1:
		return nil, fmt.Errorf("%d values of %s are served, but only one was expected", len(list.Items), m.Name)
	}
	return []int64{milliOf(&list.Items[0].Value)}, nil
}

// get reads an object of an aggregated API.
func (r *reader) get(
	ctx context.Context, into any, parameter, selector string, path ...string,
) error {
	for _, part := range path {
		if part == "" || part == "." || part == ".." || strings.Contains(part, "/") {
			return fmt.Errorf("%.64q cannot be part of an API path", part)
		}
	}
	request := r.clients.Discovery().RESTClient().Get().AbsPath(append([]string{"/apis"}, path...)...)
	if selector != "" {
		request = request.Param(parameter, selector)
	}
	result := request.SetHeader("Accept", "application/json").Do(ctx)
	if err := result.Error(); err != nil { // Raw alone would not have the server's words.
		return err
	}
	body, err := result.Raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the response of %s cannot be decoded: %w", path[0], err)
	}
	return nil
}

// milliOf is a quantity in milli-units, cut to what there is.
func milliOf(q *resource.Quantity) int64 {
	switch v := q.AsApproximateFloat64(); {
	case v >= hpa.MaxValue:
		return math.MaxInt64
	case v <= -hpa.MaxValue:
		return -math.MaxInt64
	}
	return q.MilliValue()
}
