package autoscaler

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/manifest/strict"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// wholeManifest is a HorizontalPodAutoscaler as "kubectl get -o yaml" prints it.
type wholeManifest struct {
	strict.Header `json:",inline"`

	Spec   autoscalingv2.HorizontalPodAutoscalerSpec   `json:"spec"`
	Status autoscalingv2.HorizontalPodAutoscalerStatus `json:"status"`
}

// SituateFile is Situate for an autoscaler of a file, as strict as Read: that of a name or, where that is empty, the only
// one. Of a ScaledObject it is what KEDA makes of it. What cannot be read of a status is taken for absent.
func SituateFile(file string, data []byte, name string) (Situated, error) {
	all, err := Read(file, data)
	if err != nil {
		return Situated{}, err
	}
	one, err := Named(all, name)
	if err != nil {
		return Situated{}, err
	}
	if one.document.Text("kind") == "ScaledObject" {
		return situateScaled(one)
	}
	return situateManifest(one)
}

func situateManifest(w *Written) (Situated, error) {
	var read wholeManifest
	d := w.document
	// The spec has passed already; of the status this takes out what does not fit.
	d.Check(reflect.TypeFor[wholeManifest]())
	if err := d.Decode(&read); err != nil {
		return Situated{}, w.wrong("%s", err)
	}
	_, own, _ := strings.Cut(w.By, "/")
	s, err := Situate(&autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: cmp.Or(w.Namespace, metav1.NamespaceDefault), Name: own},
		Spec:       read.Spec, Status: read.Status,
	})
	if err != nil {
		return Situated{}, w.wrong("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return s, nil
}

// situateScaled is what KEDA's HorizontalPodAutoscaler has of a ScaledObject.
func situateScaled(w *Written) (Situated, error) {
	var read scaledManifest
	if err := w.document.Decode(&read); err != nil {
		return Situated{}, w.wrong("%s", err)
	}
	_, own, _ := strings.Cut(w.By, "/")
	namespace := cmp.Or(w.Namespace, metav1.NamespaceDefault)
	scales := read.Spec.scales(namespace)
	s := Situated{Situation: explain.Situation{HPA: namespace + "/" + own, Target: scales.Kind + "/" + scales.Name}}
	for i, m := range w.Metrics {
		if m.Refused != "" {
			s.Foreign = append(s.Foreign, explain.Foreign{Type: m.Type, Name: m.Name, Why: m.Refused})
			continue
		}
		so := s.Spec.Metrics
		s.Spec = m.Spec
		s.Spec.Metrics = slices.Concat(so, m.Spec.Metrics)
		s.Metrics = append(s.Metrics, explain.Metric{})
		s.Sources = append(s.Sources, Source{Forecast: read.Spec.Triggers[i].Metadata["forecast"], Sure: true})
	}
	return s, nil
}

// TriggersForecasts are the Forecasts that the triggers of a ScaledObject name, in their order; empty where one names none.
func TriggersForecasts(object *unstructured.Unstructured) []string {
	read, ok := decode(object)
	if !ok {
		return nil
	}
	var out []string
	for i := range read.Triggers {
		out = append(out, read.Triggers[i].forecast())
	}
	return out
}
