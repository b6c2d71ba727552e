package autoscaler

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Manifest is an autoscaler of a file. Its Namespace is "default" where the file leaves it to kubectl.
type Manifest struct {
	hpa.Autoscaler

	// File that it is in.
	File string

	document manifest.RawDocument
	// lines has the lines of the document's fields.
	lines map[string]int
}

// Errorf returns an error with the file, the line and the name of the autoscaler.
func (w *Manifest) Errorf(format string, args ...any) error {
	return w.document.Err(w.Ref() + ": " + fmt.Sprintf(format, args...))
}

// Read reads the autoscalers of a file, YAML or JSON, with documents separated by ---. Unknown fields and API
// versions are errors with their line. Documents of other kinds are skipped; it is an error if there is nothing else. Unreadable parts
// of a status count as absent.
func Read(file string, data []byte) ([]Manifest, error) {
	out, others, err := manifest.ReadKinds(file, data, readerOf)
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: no HorizontalPodAutoscaler (autoscaling/v2) and no ScaledObject (keda.sh/v1alpha1): %s; "+
			"kubectl get hpa NAME -o yaml prints one", file, others)
	}
	return out, err
}

// readerOf returns the function that reads a document. Documents that are not autoscalers are skipped.
func readerOf(d manifest.RawDocument) manifest.KindReader[Manifest] {
	version, kind := d.Text("apiVersion"), d.Text("kind")
	refused := func(format string, args ...any) manifest.KindReader[Manifest] {
		return manifest.KindReader[Manifest]{Refused: fmt.Sprintf(format, args...)}
	}
	switch {
	case kind == hpa.KindHPA && version == "autoscaling/v2":
		return manifest.KindReader[Manifest]{Read: readHPAManifest}
	case kind == hpa.KindHPA && version == "autoscaling/v1":
		return refused("a HorizontalPodAutoscaler of autoscaling/v1 scales on the CPU alone: write apiVersion: " +
			"autoscaling/v2 and an External metric of the total demand")
	case kind == hpa.KindHPA:
		return refused("apiVersion %.64q is not supported: write apiVersion: autoscaling/v2", version)
	case kind == hpa.KindScaledObject && version == "keda.sh/v1alpha1":
		return manifest.KindReader[Manifest]{Read: readScaledObjectManifest}
	case kind == hpa.KindScaledObject:
		return refused("apiVersion %.64q is not supported: write apiVersion: keda.sh/v1alpha1", version)
	}
	name := cmp.Or(d.Text("metadata", "name"), "?")
	return manifest.KindReader[Manifest]{SkippedAs: cmp.Or(kind, "a document without kind") + "/" + name}
}

func readHPAManifest(d manifest.RawDocument) (Manifest, error) {
	var read struct {
		manifest.Header `json:",inline"`

		Spec autoscalingv2.HorizontalPodAutoscalerSpec `json:"spec"`
	}
	lines, err := readInto(d, &read)
	if err != nil {
		return Manifest{}, err
	}
	// The document may be the output of "kubectl get -o yaml". The check removes invalid values from the status.
	var live struct {
		manifest.Header `json:",inline"`

		Spec   autoscalingv2.HorizontalPodAutoscalerSpec   `json:"spec"`
		Status autoscalingv2.HorizontalPodAutoscalerStatus `json:"status"`
	}
	d.Check(reflect.TypeOf(live))
	if err := d.Decode(&live); err != nil {
		return Manifest{}, d.Err(err.Error())
	}
	return manifestOf(d, lines, FromHPA(&autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(d), Name: d.Text("metadata", "name")},
		Spec:       live.Spec, Status: live.Status,
	})), nil
}

func readScaledObjectManifest(d manifest.RawDocument) (Manifest, error) {
	var read struct {
		manifest.Header `json:",inline"`

		Spec scaledObject `json:"spec"`
	}
	lines, err := readInto(d, &read)
	if err != nil {
		return Manifest{}, err
	}
	annotations, _, err := unstructured.NestedStringMap(read.Metadata, "annotations")
	if err != nil { // Annotations that are not text have no effect.
		annotations = nil
	}
	return manifestOf(d, lines, read.Spec.autoscaler(namespaceOf(d), d.Text("metadata", "name"), annotations)), nil
}

func namespaceOf(d manifest.RawDocument) string {
	return cmp.Or(d.Text("metadata", "namespace"), metav1.NamespaceDefault)
}

func manifestOf(d manifest.RawDocument, lines map[string]int, a *hpa.Autoscaler) Manifest {
	return Manifest{Autoscaler: *a, File: d.File, document: d, lines: lines}
}

// readInto decodes a document into an object of its kind, and returns the lines of its fields.
func readInto(d manifest.RawDocument, object any) (lines map[string]int, err error) {
	reading := d.Check(reflect.TypeOf(object).Elem())
	problems := reading.Errs()
	if d.Text("metadata", "name") == "" {
		problems = append(problems, d.Err("metadata.name is missing: name the autoscaler"))
	}
	if _, found := reading.Lines["spec"]; !found {
		problems = append(problems, d.Err("spec is missing: write scaleTargetRef and metrics"))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if err := d.Decode(object); err != nil {
		return nil, d.Err(err.Error())
	}
	return reading.Lines, nil
}

// FindManifest returns the autoscaler with a name (with or without its kind) or, where that is empty, the only one.
func FindManifest(all []Manifest, name string) (*Manifest, error) {
	var found, known []string
	var one *Manifest
	for i := range all {
		w := &all[i]
		known = append(known, w.Ref())
		if name == "" || name == w.Name || name == w.Ref() {
			found, one = append(found, w.Ref()), w
		}
	}
	switch {
	case len(found) == 1:
		return one, nil
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no autoscaler %.64q, the file has %s", all[0].File, name, strings.Join(known, ", "))
	}
	return nil, fmt.Errorf("%s: %d autoscalers, name one: %s", all[0].File, len(found), strings.Join(found, ", "))
}

// SelectMetric returns the metric with a name or, where that is empty, the only one that can be simulated: as one of the total demand.
// capacity is what a replica sustains; 0 if that is not known. The largest proposal of an autoscaler's metrics wins, so the others can
// only add replicas.
func (w *Manifest) SelectMetric(name string, capacity float64) (*hpa.AutoscalerMetric, error) {
	if len(w.Metrics) == 0 {
		return nil, w.Errorf("has no metrics: write an External metric of the total demand, type AverageValue")
	}
	var found []*hpa.AutoscalerMetric
	var names, refused []string
	at := ""
	for i := range w.Metrics {
		m := w.Metrics[i]
		names = append(names, cmp.Or(m.Trigger, m.Name))
		switch why := asTotal(&m, capacity); {
		case name != "" && m.Name != name && m.Trigger != name:
		case why != "":
			if at == "" {
				at = w.metricPath(i)
			}
			refused = append(refused, m.String()+": "+why)
		default:
			found = append(found, &m)
		}
	}
	slices.Sort(names)
	switch {
	case len(found) == 1:
		spec := w.SpecOf(found[0])
		if err := spec.Validate(); err != nil {
			return nil, w.problem("spec", found[0].String()+": "+strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		return found[0], nil
	case len(found) > 1 && name == "":
		return nil, w.Errorf("has %d metrics that can be simulated, name one: %s", len(found),
			strings.Join(names, ", "))
	case len(found) > 1:
		return nil, w.Errorf("has two metrics %.64q: keep one", name)
	case len(refused) > 0:
		return nil, w.problem(at, strings.Join(refused, "; "))
	}
	return nil, w.Errorf("no metric %.64q, its metrics are %s", name, strings.Join(names, ", "))
}

// metricPath is the path of a metric or a trigger.
func (w *Manifest) metricPath(i int) string {
	if w.Kind == hpa.KindScaledObject {
		return fmt.Sprintf("spec.triggers[%d]", i)
	}
	return fmt.Sprintf("spec.metrics[%d]", i)
}

// problem is an error about a part of the autoscaler, with the line of the field that the text mentions.
func (w *Manifest) problem(path, text string) error {
	if w.Kind == hpa.KindScaledObject { // The text is about the HPA that KEDA creates.
		text = strings.NewReplacer("minReplicas ", "minReplicaCount ", "maxReplicas ", "maxReplicaCount ").Replace(text)
	}
	behavior := "spec.behavior"
	if w.Kind == hpa.KindScaledObject {
		behavior = "spec.advanced.horizontalPodAutoscalerConfig.behavior"
	}
	for _, direction := range []string{"scaleUp", "scaleDown"} {
		if strings.Contains(text, direction+": ") {
			path = behavior + "." + direction
		}
	}
	line, deepest := cmp.Or(w.lines[path], w.document.Line), ""
	for _, field := range slices.Sorted(maps.Keys(w.lines)) {
		below, isBelow := strings.CutPrefix(field, path+".")
		name := field[strings.LastIndex(field, ".")+1:]
		if isBelow && len(below) > len(deepest) && strings.Contains(text, name+" ") {
			line, deepest = w.lines[field], below
		}
	}
	return manifest.Problem{File: w.File, Line: line, Text: w.Ref() + ": " + text}.Err()
}

// asTotal converts a metric to the total demand. It returns why the metric cannot be simulated, and what to write instead.
func asTotal(m *hpa.AutoscalerMetric, capacity float64) (refused string) {
	switch {
	case m.PerPod: // The sum over the pods divided by the target is the same number of replicas.
		m.Source = hpa.External
	case m.Utilization > 0 && capacity > 0:
		m.Source, m.Type, m.Refused = hpa.External, hpa.AverageValue, ""
		m.Target = int64(math.Round(capacity * 10 * float64(m.Utilization))) // In thousandths of a percentage.
	case m.Utilization > 0:
		return m.Refused + "; or add --replica-capacity, so that its target becomes that share of what a replica " +
			"sustains"
	}
	if m.Unusable() != "" {
		return m.Unusable()
	}
	return ""
}
