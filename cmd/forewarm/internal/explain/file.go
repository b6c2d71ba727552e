package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// fromFile reads the autoscaler of a file, and what the flags say of its metrics and replicas. What they leave out is
// the status's, where the file has one.
func (o *options) fromFile(ctx context.Context, of autoscalerName, in io.Reader) (*explain.Input, error) {
	data, err := cmdline.ReadInput(ctx, in, o.file, manifest.MaxFile)
	if err != nil {
		return nil, err
	}
	s, err := autoscaler.ResolveFile(o.file, data, of.inFile())
	if err != nil {
		return nil, err
	}
	s.Now = time.Now()
	if err := errors.Join(o.scale(&s), o.setValues(&s)); err != nil {
		return nil, cmdline.UsageError(err)
	}
	return &s.Input, nil
}

// scale fills in the replicas.
func (o *options) scale(s *autoscaler.Resolved) error {
	at := o.replicas
	if at == unset && s.Live != nil {
		at = s.Live.Current
	}
	if at == unset {
		return errors.New(
			"the number of replicas is missing, and the file has no status: add for example --replicas 12",
		)
	}
	ready := o.ready
	if ready == unset {
		ready = at
	}
	if ready > at {
		return fmt.Errorf("--ready %d is more than the %d replicas", ready, at)
	}
	s.Scale = explain.Scale{Replicas: at, Existing: at, Pods: at, Ready: ready}
	return nil
}

// setValues fills in the readings: those of the flags, else of the status.
func (o *options) setValues(s *autoscaler.Resolved) error {
	given, err := o.byName(s)
	if err != nil {
		return err
	}
	var missing []string
	for i := range s.Spec.Metrics {
		m := &s.Spec.Metrics[i]
		if milli, found := given[m.Name]; found {
			s.Metrics[i] = explain.Metric{Reading: hpa.Reading{Values: []int64{milli}}, From: "--value"}
			continue
		}
		if milli, found := byStatus(s, i); found {
			s.Metrics[i] = explain.Metric{Reading: hpa.Reading{Values: []int64{milli}}, From: "the file's status"}
			continue
		}
		missing = append(missing, fmt.Sprintf("--value %s=180", m.Name))
	}
	if len(missing) > 0 {
		return fmt.Errorf("values of metrics are missing: add %s", strings.Join(missing, " "))
	}
	return nil
}

// byName are the values of the flags in milli-units. A value without a name is that of the only metric.
func (o *options) byName(s *autoscaler.Resolved) (map[string]int64, error) {
	names := make([]string, len(s.Spec.Metrics))
	for i := range names {
		names[i] = s.Spec.Metrics[i].Name
	}
	listed := listMetrics(names, s.Uncomputed)
	if len(names) == 0 && len(o.values) > 0 {
		return nil, fmt.Errorf("--value %.64q: only External and Object metrics are computed, and the file's "+
			"autoscaler has none%s", o.values[0], listed)
	}
	given := map[string]int64{}
	for _, text := range o.values {
		metric, value, named := cutLast(text)
		if !named && len(names) != 1 {
			return nil, fmt.Errorf(
				"--value %.64q: the file's autoscaler has %d metrics that are computed%s, write NAME=VALUE", text,
				len(names), listed,
			)
		}
		if !named {
			metric = names[0]
		}
		milli, err := parseValue(value)
		if err != nil {
			return nil, err
		}
		if _, twice := given[metric]; twice {
			return nil, fmt.Errorf("--value for %.64q is given twice, keep one", metric)
		}
		if !slices.Contains(names, metric) {
			return nil, fmt.Errorf("--value %.64q: the file's autoscaler has no such metric that is computed%s",
				text, listed)
		}
		given[metric] = milli
	}
	return given, nil
}

// listMetrics are the metrics by their names, and those that are not computed with their types.
func listMetrics(names []string, foreign []explain.UncomputedMetric) string {
	var parts, others []string
	if len(names) > 0 {
		parts = append(parts, strings.Join(names, ", "))
	}
	for i := range foreign {
		others = append(others, foreign[i].Name+" of type "+foreign[i].Type)
	}
	if len(others) > 0 {
		parts = append(parts, "not computed: "+strings.Join(others, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// cutLast cuts NAME=VALUE; a name may hold a =.
func cutLast(text string) (before, after string, found bool) {
	i := strings.LastIndex(text, "=")
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+1:], true
}

// parseValue reads a quantity in milli-units, rounded up as the metrics API would.
func parseValue(text string) (int64, error) {
	const most = math.MaxInt64 / 1000
	wrong := fmt.Errorf("--value %.64q is no quantity, write for example 180, 0.5 or 4k", text)
	if !v1alpha1.BoundedQuantity(text) {
		return 0, wrong
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, wrong
	}
	if v := q.AsApproximateFloat64(); !(math.Abs(v) < most) {
		return 0, fmt.Errorf("--value %.64q is above the largest value of the metrics API, %.3g", text, float64(most))
	}
	return q.MilliValue(), nil
}

// byStatus is a metric's value by the HPA's status, in milli-units: the status has an AverageValue over the replicas.
func byStatus(s *autoscaler.Resolved, i int) (milli int64, found bool) {
	if s.Live == nil || i >= len(s.Live.Readings) || s.Live.Readings[i] == nil {
		return 0, false
	}
	milli = *s.Live.Readings[i]
	if s.Spec.Metrics[i].Type == hpa.AverageValue {
		if n := int64(s.Live.Current); n > 0 && milli > math.MaxInt64/n {
			return 0, false
		}
		milli *= int64(s.Live.Current)
	}
	return milli, true
}
