package autoscaler

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/forewarm/forewarm/pkg/config/strict"
	"github.com/forewarm/forewarm/pkg/hpa"
)

// header is what objects of every kind have. Of metadata and status all is known: the API server writes much into them.
type header struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Status     any            `json:"status"`
}

// manifest is a HorizontalPodAutoscaler as a file holds it.
type manifest struct {
	header `json:",inline"`

	Spec autoscalingv2.HorizontalPodAutoscalerSpec `json:"spec"`
}

// scaledManifest is a ScaledObject as a file holds it.
type scaledManifest struct {
	header `json:",inline"`

	Spec scaledObject `json:"spec"`
}

// known is how a kind is read, or why it is not.
type known struct {
	read    func(strict.Document) (Written, error)
	refused string
}

// kindOf is what is known of a document's kind: nothing, where it is of no autoscaler.
func kindOf(d *strict.Document) known {
	if d.Root == nil {
		return known{}
	}
	if !d.IsObject() {
		return known{refused: "is not an object: write apiVersion, kind, metadata and spec"}
	}
	version, kind := d.Text("apiVersion"), d.Text("kind")
	switch {
	case kind == "HorizontalPodAutoscaler" && version == "autoscaling/v2":
		return known{read: readManifest}
	case kind == "HorizontalPodAutoscaler" && version == "autoscaling/v1":
		return known{
			refused: "a HorizontalPodAutoscaler of autoscaling/v1 scales on the CPU alone: write apiVersion: " +
				"autoscaling/v2 and an External metric of the total demand",
		}
	case kind == "HorizontalPodAutoscaler":
		return known{
			refused: fmt.Sprintf("apiVersion %.64q is not read here: write apiVersion: autoscaling/v2", version),
		}
	case kind == "ScaledObject" && version == "keda.sh/v1alpha1":
		return known{read: readScaledManifest}
	case kind == "ScaledObject":
		return known{
			refused: fmt.Sprintf("apiVersion %.64q is not read here: write apiVersion: keda.sh/v1alpha1", version),
		}
	case strings.HasSuffix(kind, "List"):
		return known{refused: fmt.Sprintf("kind %.64s is not read here: write a document for each, apart by ---", kind)}
	}
	return known{}
}

// readInto reads a document into an object of its kind.
func readInto(d strict.Document, object any) (Written, error) {
	w := Written{
		File: d.File, Line: d.Line, Namespace: d.Text("metadata", "namespace"),
		By: d.Text("kind") + "/" + d.Text("metadata", "name"),
	}
	reading := d.Check(reflect.TypeOf(object).Elem())
	var problems []error
	for _, p := range reading.Problems {
		problems = append(problems, p.Err())
	}
	wrong := func(text string) error { return strict.Problem{File: d.File, Line: d.Line, Text: text}.Err() }
	if d.Text("metadata", "name") == "" {
		problems = append(problems, wrong("metadata.name is missing: name the autoscaler"))
	}
	if _, found := reading.Lines["spec"]; !found {
		problems = append(problems, wrong("spec is missing: write what it scales, and on what"))
	}
	if err := errors.Join(problems...); err != nil {
		return w, err
	}
	if err := d.Decode(object); err != nil {
		return w, wrong(err.Error())
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
