package autoscaler

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// hpaManifest is a HorizontalPodAutoscaler in a file.
type hpaManifest struct {
	manifest.Header `json:",inline"`

	Spec autoscalingv2.HorizontalPodAutoscalerSpec `json:"spec"`
}

// scaledObjectManifest is a ScaledObject in a file.
type scaledObjectManifest struct {
	manifest.Header `json:",inline"`

	Spec scaledObject `json:"spec"`
}

// readerOf returns how a document is read. Documents that are not autoscalers are skipped.
func readerOf(d manifest.RawDocument) manifest.KindReader[Manifest] {
	version, kind := d.Text("apiVersion"), d.Text("kind")
	refused := func(format string, args ...any) manifest.KindReader[Manifest] {
		return manifest.KindReader[Manifest]{Refused: fmt.Sprintf(format, args...)}
	}
	switch {
	case kind == KindHPA && version == "autoscaling/v2":
		return manifest.KindReader[Manifest]{Read: readHPAManifest}
	case kind == KindHPA && version == "autoscaling/v1":
		return refused("a HorizontalPodAutoscaler of autoscaling/v1 scales on the CPU alone: write apiVersion: " +
			"autoscaling/v2 and an External metric of the total demand")
	case kind == KindHPA:
		return refused("apiVersion %.64q is not supported: write apiVersion: autoscaling/v2", version)
	case kind == KindScaledObject && version == "keda.sh/v1alpha1":
		return manifest.KindReader[Manifest]{Read: readScaledObjectManifest}
	case kind == KindScaledObject:
		return refused("apiVersion %.64q is not supported: write apiVersion: keda.sh/v1alpha1", version)
	}
	name := cmp.Or(d.Text("metadata", "name"), "?")
	return manifest.KindReader[Manifest]{SkippedAs: cmp.Or(kind, "a document without kind") + "/" + name}
}

// readInto decodes a document into an object of its kind.
func readInto(d manifest.RawDocument, object any) (Manifest, error) {
	w := Manifest{
		File: d.File, Namespace: d.Text("metadata", "namespace"),
		Ref: d.Text("kind") + "/" + d.Text("metadata", "name"), document: d,
	}
	reading := d.Check(reflect.TypeOf(object).Elem())
	problems := reading.Errs()
	if d.Text("metadata", "name") == "" {
		problems = append(problems, d.Err("metadata.name is missing: name the autoscaler"))
	}
	if _, found := reading.Lines["spec"]; !found {
		problems = append(problems, d.Err("spec is missing: write scaleTargetRef and metrics"))
	}
	if err := errors.Join(problems...); err != nil {
		return w, err
	}
	if err := d.Decode(object); err != nil {
		return w, d.Err(err.Error())
	}
	return w, nil
}

func readHPAManifest(d manifest.RawDocument) (Manifest, error) {
	var read hpaManifest
	w, err := readInto(d, &read)
	if err != nil {
		return w, err
	}
	for i := range read.Spec.Metrics {
		w.Metrics = append(w.Metrics, hpaMetricOf(&read.Spec, &read.Spec.Metrics[i]))
	}
	return w, nil
}

// hpaMetricOf returns how a HorizontalPodAutoscaler scales on one of its metrics.
func hpaMetricOf(s *autoscalingv2.HorizontalPodAutoscalerSpec, m *autoscalingv2.MetricSpec) Metric {
	out := Metric{Type: string(m.Type) + " metric"}
	const instead = "write an External metric of the total demand, type AverageValue"
	switch {
	case m.External != nil:
		out.Name = m.External.Metric.Name
		out.Spec, out.Refused = hpaSpec(s, out.Name, hpa.External, &m.External.Target)
	case m.Object != nil:
		out.Name = m.Object.Metric.Name
		out.Spec, out.Refused = hpaSpec(s, out.Name, hpa.Object, &m.Object.Target)
	case m.Resource != nil:
		out.Name = string(m.Resource.Name)
		out.Refused = "the usage of the pods is not the demand, and saturates: " + instead
	case m.ContainerResource != nil:
		out.Name = string(m.ContainerResource.Name)
		out.Refused = "the usage of the containers is not the demand, and saturates: " + instead
	case m.Pods != nil:
		out.Name = m.Pods.Metric.Name
		out.Refused = "a mean over the pods depends on their number: " + instead + " and the same averageValue"
	default:
		out.Refused = fmt.Sprintf("it has no field for its type %.64q: %s", m.Type, instead)
	}
	return out.checked()
}

// checked refuses what the API server would reject.
func (m *Metric) checked() Metric {
	if m.Refused == "" {
		if err := m.Spec.Validate(); err != nil {
			m.Refused = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
	}
	return *m
}

func readScaledObjectManifest(d manifest.RawDocument) (Manifest, error) {
	var read scaledObjectManifest
	w, err := readInto(d, &read)
	if err != nil {
		return w, err
	}
	for i := range read.Spec.Triggers {
		w.Metrics = append(w.Metrics, read.Spec.metricOf(i))
	}
	return w, nil
}

// metricOf returns how KEDA's HorizontalPodAutoscaler scales on one of its triggers. A trigger's name is optional;
// KEDA names the metric by the trigger's index and type.
func (s *scaledObject) metricOf(i int) Metric {
	t := &s.Triggers[i]
	out := Metric{Name: t.Name, Type: t.Type + " trigger"}
	if out.Name == "" {
		out.Name = "s" + strconv.Itoa(i) + "-" + t.Type
	}
	if out.Refused = s.checkTrigger(t); out.Refused != "" {
		return out
	}
	target, refused := t.replicaTarget()
	if out.Refused = refused; refused == "" {
		out.Spec, out.Refused = s.averageValueSpec(out.Name, target)
	}
	return out.checked()
}

// replicaTarget returns a trigger's target per replica in thousandths. KEDA truncates further digits.
func (t *trigger) replicaTarget() (milli int64, refused string) {
	key := map[string]string{"prometheus": "threshold", "metrics-api": "targetValue"}[t.Type]
	switch {
	case key != "":
		value, err := strconv.ParseFloat(t.Metadata[key], 64)
		if err != nil || !(value >= 0.001 && value < hpa.MaxValue) {
			return 0, fmt.Sprintf("its %s %.64q is not from 0.001 to %.3g: write what one replica sustains",
				key, t.Metadata[key], float64(hpa.MaxValue))
		}
		return int64(math.Trunc(value * 1000)), ""
	case t.Metadata["forecast"] != "":
		milli, refused = t.target()
		if milli == 0 && refused == "" {
			refused = "nothing says what one replica sustains: set target in its metadata"
		}
		return milli, refused
	}
	return 0, fmt.Sprintf("a trigger of type %.64q is not supported: write one of type prometheus, whose "+
		"threshold is what one replica sustains", t.Type)
}
