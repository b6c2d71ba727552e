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
	"github.com/forewarm/forewarm/pkg/manifest/strict"
)

// manifest is a HorizontalPodAutoscaler as a file holds it.
type manifest struct {
	strict.Header `json:",inline"`

	Spec autoscalingv2.HorizontalPodAutoscalerSpec `json:"spec"`
}

// scaledManifest is a ScaledObject as a file holds it.
type scaledManifest struct {
	strict.Header `json:",inline"`

	Spec scaledObject `json:"spec"`
}

// kindOf is how a document is read: those of no autoscaler are passed over.
func kindOf(d strict.Document) strict.Kind[Written] {
	version, kind := d.Text("apiVersion"), d.Text("kind")
	refused := func(format string, args ...any) strict.Kind[Written] {
		return strict.Kind[Written]{Refused: fmt.Sprintf(format, args...)}
	}
	switch {
	case kind == "HorizontalPodAutoscaler" && version == "autoscaling/v2":
		return strict.Kind[Written]{Read: readManifest}
	case kind == "HorizontalPodAutoscaler" && version == "autoscaling/v1":
		return refused("a HorizontalPodAutoscaler of autoscaling/v1 scales on the CPU alone: write apiVersion: " +
			"autoscaling/v2 and an External metric of the total demand")
	case kind == "HorizontalPodAutoscaler":
		return refused("apiVersion %.64q is not read here: write apiVersion: autoscaling/v2", version)
	case kind == "ScaledObject" && version == "keda.sh/v1alpha1":
		return strict.Kind[Written]{Read: readScaledManifest}
	case kind == "ScaledObject":
		return refused("apiVersion %.64q is not read here: write apiVersion: keda.sh/v1alpha1", version)
	}
	name := cmp.Or(d.Text("metadata", "name"), "?")
	return strict.Kind[Written]{Other: cmp.Or(kind, "a document without kind") + "/" + name}
}

// readInto reads a document into an object of its kind.
func readInto(d strict.Document, object any) (Written, error) {
	w := Written{
		File: d.File, Line: d.Line, Namespace: d.Text("metadata", "namespace"),
		By: d.Text("kind") + "/" + d.Text("metadata", "name"), document: d,
	}
	reading := d.Check(reflect.TypeOf(object).Elem())
	problems := reading.Errs()
	if d.Text("metadata", "name") == "" {
		problems = append(problems, d.Err("metadata.name is missing: name the autoscaler"))
	}
	if _, found := reading.Lines["spec"]; !found {
		problems = append(problems, d.Err("spec is missing: write what it scales, and on what"))
	}
	if err := errors.Join(problems...); err != nil {
		return w, err
	}
	if err := d.Decode(object); err != nil {
		return w, d.Err(err.Error())
	}
	return w, nil
}

func readManifest(d strict.Document) (Written, error) {
	var read manifest
	w, err := readInto(d, &read)
	if err != nil {
		return w, err
	}
	for i := range read.Spec.Metrics {
		w.Metrics = append(w.Metrics, metricOf(&read.Spec, &read.Spec.Metrics[i]))
	}
	return w, nil
}

// metricOf is how a HorizontalPodAutoscaler scales on one of its metrics.
func metricOf(s *autoscalingv2.HorizontalPodAutoscalerSpec, m *autoscalingv2.MetricSpec) Metric {
	out := Metric{Type: string(m.Type) + " metric"}
	const instead = "write an External metric of the total demand, type AverageValue"
	switch {
	case m.External != nil:
		out.Name = m.External.Metric.Name
		out.Spec, out.Refused = averageOf(s, out.Name, hpa.External, &m.External.Target)
	case m.Object != nil:
		out.Name = m.Object.Metric.Name
		out.Spec, out.Refused = averageOf(s, out.Name, hpa.Object, &m.Object.Target)
	case m.Resource != nil:
		out.Name = string(m.Resource.Name)
		out.Refused = "what the pods use is no demand, and saturates with them: " + instead
	case m.ContainerResource != nil:
		out.Name = string(m.ContainerResource.Name)
		out.Refused = "what the containers use is no demand, and saturates with them: " + instead
	case m.Pods != nil:
		out.Name = m.Pods.Metric.Name
		out.Refused = "a mean over the pods changes with their number: " + instead + " and the same averageValue"
	default:
		out.Refused = fmt.Sprintf("it says nothing under its type %.64q: %s", m.Type, instead)
	}
	return out.checked()
}

// checked refuses what the API server would.
func (m *Metric) checked() Metric {
	if m.Refused == "" {
		if err := m.Spec.Validate(); err != nil {
			m.Refused = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
	}
	return *m
}

func readScaledManifest(d strict.Document) (Written, error) {
	var read scaledManifest
	w, err := readInto(d, &read)
	if err != nil {
		return w, err
	}
	for i := range read.Spec.Triggers {
		w.Metrics = append(w.Metrics, read.Spec.metricOf(i))
	}
	return w, nil
}

// metricOf is how KEDA's HorizontalPodAutoscaler scales on one of its triggers. A trigger has a name by choice; KEDA names
// the metric by the trigger's place and type.
func (s *scaledObject) metricOf(i int) Metric {
	t := &s.Triggers[i]
	out := Metric{Name: t.Name, Type: t.Type + " trigger"}
	if out.Name == "" {
		out.Name = "s" + strconv.Itoa(i) + "-" + t.Type
	}
	if out.Refused = s.judge(t); out.Refused != "" {
		return out
	}
	target, refused := t.any()
	if out.Refused = refused; refused == "" {
		out.Spec, out.Refused = s.averageOf(out.Name, target)
	}
	return out.checked()
}

// any is what one replica sustains by a trigger of any kind that says so, in milli-units. KEDA cuts what is beyond them.
func (t *trigger) any() (milli int64, refused string) {
	key := map[string]string{"prometheus": "threshold", "metrics-api": "targetValue"}[t.Type]
	switch {
	case key != "":
		value, err := strconv.ParseFloat(t.Metadata[key], 64)
		if err != nil || !(value >= 0.001 && value < most) {
			return 0, fmt.Sprintf("its %s %.64q is not from 0.001 to %.3g: write what one replica sustains",
				key, t.Metadata[key], float64(most))
		}
		return int64(math.Trunc(value * 1000)), ""
	case t.Metadata["forecast"] != "":
		milli, refused = t.target()
		if milli == 0 && refused == "" {
			refused = "nothing says what one replica sustains: set target in its metadata"
		}
		return milli, refused
	}
	return 0, fmt.Sprintf(
		"what a trigger of type %.64q compares is not read here: write one of type prometheus, whose "+
			"threshold is what one replica sustains",
		t.Type,
	)
}
