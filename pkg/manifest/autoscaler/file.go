package autoscaler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Manifest is an autoscaler of a file, with all its metrics, whether they name a Forecast or not.
type Manifest struct {
	File string
	// Namespace is empty where the file leaves it to kubectl.
	Namespace string
	// Ref is "HorizontalPodAutoscaler/llama" or "ScaledObject/llama".
	Ref string
	// Metrics in the order of the file.
	Metrics []Metric

	document manifest.RawDocument
}

// Metric is one metric that an autoscaler scales on.
type Metric struct {
	// Name of the metric, or of KEDA's trigger.
	Name string
	// Type in words: "External metric", "prometheus trigger".
	Type string
	// Spec is how the autoscaler scales on this metric alone.
	Spec hpa.Spec
	// Refused is why it cannot be simulated, and what to write instead; empty where it can.
	Refused string
}

// String is "External metric vllm-inflight".
func (m *Metric) String() string { return m.Type + " " + m.Name }

// Read reads the autoscalers of a file, YAML or JSON, with documents separated by ---. Unknown fields and API
// versions are errors with their line. Documents of other kinds are skipped; it is an error if there is nothing else.
func Read(file string, data []byte) ([]Manifest, error) {
	out, others, err := manifest.ReadKinds(file, data, readerOf)
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: no HorizontalPodAutoscaler (autoscaling/v2) and no ScaledObject (keda.sh/v1alpha1): %s; "+
			"kubectl get hpa NAME -o yaml prints one", file, others)
	}
	return out, err
}

// FindManifest returns the autoscaler with a name (with or without its kind) or, where that is empty, the only one.
func FindManifest(all []Manifest, name string) (*Manifest, error) {
	var found, known []string
	var one *Manifest
	for i := range all {
		w := &all[i]
		known = append(known, w.Ref)
		_, own, _ := strings.Cut(w.Ref, "/")
		if name == "" || name == own || name == w.Ref {
			found, one = append(found, w.Ref), w
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

// SelectMetric returns the metric with a name or, where that is empty, the only one that can be simulated. The
// largest proposal of an autoscaler's metrics wins, so the others can only add replicas.
func (w *Manifest) SelectMetric(name string) (*Metric, error) {
	if len(w.Metrics) == 0 {
		return nil, w.errorf("has no metrics: write an External metric of the total demand, type AverageValue")
	}
	var found []*Metric
	var names, refused []string
	for i := range w.Metrics {
		m := &w.Metrics[i]
		names = append(names, m.Name)
		switch {
		case name != "" && m.Name != name:
		case m.Refused != "":
			refused = append(refused, m.String()+": "+m.Refused)
		default:
			found = append(found, m)
		}
	}
	slices.Sort(names)
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1 && name == "":
		return nil, w.errorf("has %d metrics that can be simulated, name one: %s", len(found),
			strings.Join(names, ", "))
	case len(found) > 1:
		return nil, w.errorf("has two metrics %.64q: keep one", name)
	case len(refused) > 0:
		return nil, w.errorf("%s", strings.Join(refused, "; "))
	}
	return nil, w.errorf("no metric %.64q, its metrics are %s", name, strings.Join(names, ", "))
}

func (w *Manifest) errorf(format string, args ...any) error {
	return w.document.Err(w.Ref + ": " + fmt.Sprintf(format, args...))
}
