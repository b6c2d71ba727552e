package autoscaler

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// hpaWithStatus is a HorizontalPodAutoscaler as "kubectl get -o yaml" prints it.
type hpaWithStatus struct {
	manifest.Header `json:",inline"`

	Spec   autoscalingv2.HorizontalPodAutoscalerSpec   `json:"spec"`
	Status autoscalingv2.HorizontalPodAutoscalerStatus `json:"status"`
}

// ResolveFile reads an autoscaler of a file, as strictly as Read: the one with a name or, where that is empty, the
// only one. Of a ScaledObject it resolves the HPA that KEDA creates. Unreadable parts of a status count as absent.
func ResolveFile(file string, data []byte, name string) (Resolved, error) {
	all, err := Read(file, data)
	if err != nil {
		return Resolved{}, err
	}
	one, err := FindManifest(all, name)
	if err != nil {
		return Resolved{}, err
	}
	if one.document.Text("kind") == "ScaledObject" {
		return resolveScaledObject(one)
	}
	return resolveHPAManifest(one)
}

func resolveHPAManifest(w *Manifest) (Resolved, error) {
	var read hpaWithStatus
	d := w.document
	// The spec was checked already. This removes what does not fit from the status.
	d.Check(reflect.TypeFor[hpaWithStatus]())
	if err := d.Decode(&read); err != nil {
		return Resolved{}, w.errorf("%s", err)
	}
	_, own, _ := strings.Cut(w.Ref, "/")
	s, err := ResolveHPA(&autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: cmp.Or(w.Namespace, metav1.NamespaceDefault), Name: own},
		Spec:       read.Spec, Status: read.Status,
	})
	if err != nil {
		return Resolved{}, w.errorf("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return s, nil
}

// resolveScaledObject resolves the HorizontalPodAutoscaler that KEDA creates for a ScaledObject.
func resolveScaledObject(w *Manifest) (Resolved, error) {
	var read scaledObjectManifest
	if err := w.document.Decode(&read); err != nil {
		return Resolved{}, w.errorf("%s", err)
	}
	_, own, _ := strings.Cut(w.Ref, "/")
	namespace := cmp.Or(w.Namespace, metav1.NamespaceDefault)
	scales := read.Spec.workload(namespace)
	s := Resolved{Input: explain.Input{HPA: namespace + "/" + own, Target: scales.Kind + "/" + scales.Name}}
	for i, m := range w.Metrics {
		if m.Refused != "" {
			s.Uncomputed = append(s.Uncomputed, explain.UncomputedMetric{Type: m.Type, Name: m.Name, Why: m.Refused})
			continue
		}
		so := s.Spec.Metrics
		s.Spec = m.Spec
		s.Spec.Metrics = slices.Concat(so, m.Spec.Metrics)
		s.Metrics = append(s.Metrics, explain.Metric{})
		s.Sources = append(s.Sources, Source{Forecast: read.Spec.Triggers[i].Metadata["forecast"], Certain: true})
	}
	return s, nil
}

// TriggerForecasts returns the Forecasts that the triggers of a ScaledObject name, in their order; empty where one
// names none.
func TriggerForecasts(object *unstructured.Unstructured) []string {
	read, ok := decodeSpec(object)
	if !ok {
		return nil
	}
	var out []string
	for i := range read.Triggers {
		out = append(out, read.Triggers[i].forecast())
	}
	return out
}
