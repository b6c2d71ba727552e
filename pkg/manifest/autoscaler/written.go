package autoscaler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest/strict"
)

// Written is an autoscaler that a file holds, with all that it scales on, whether a Forecast is named or not.
type Written struct {
	// File and Line where it begins.
	File string
	Line int
	// Namespace is empty where the file leaves it to kubectl.
	Namespace string
	// By is the autoscaler: "HorizontalPodAutoscaler/llama" or "ScaledObject/llama".
	By string
	// Metrics in the order of the file.
	Metrics []Metric

	document strict.Document
}

// Metric is one that an autoscaler scales on.
type Metric struct {
	// Name that tells it from the others: the metric's, or that of KEDA's trigger.
	Name string
	// Type in words: "External metric", "prometheus trigger".
	Type string
	// Spec is how the autoscaler scales on it, which is on this metric alone.
	Spec hpa.Spec
	// Refused says why it cannot be played, and what to write instead; empty where it can.
	Refused string
}

// String is "External metric vllm-inflight".
func (m *Metric) String() string { return m.Type + " " + m.Name }

// Read reads the autoscalers of a file, YAML or JSON, several documents apart by ---. It is strict: a field that an
// autoscaler does not have is an error with its line, and so is a version of another API. Documents of other kinds are
// passed over, unless there is nothing else.
func Read(file string, data []byte) ([]Written, error) {
	out, others, err := strict.Read(file, data, kindOf)
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: no HorizontalPodAutoscaler (autoscaling/v2) and no ScaledObject (keda.sh/v1alpha1): %s; "+
			"kubectl get hpa NAME -o yaml prints one", file, others)
	}
	return out, err
}

// Named is the one autoscaler that is meant: that of a name (with or without its kind), or, where that is empty, the only
// one.
func Named(all []Written, name string) (*Written, error) {
	var found, known []string
	var one *Written
	for i := range all {
		w := &all[i]
		known = append(known, w.By)
		_, own, _ := strings.Cut(w.By, "/")
		if name == "" || name == own || name == w.By {
			found, one = append(found, w.By), w
		}
	}
	switch {
	case len(found) == 1:
		return one, nil
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no autoscaler %.64q, it holds %s", all[0].File, name, strings.Join(known, ", "))
	}
	return nil, fmt.Errorf("%s: %d autoscalers, say which: %s", all[0].File, len(found), strings.Join(found, ", "))
}

// On is the one metric that is meant: that of a name or, where that is empty, the only one that can be played. The largest
// proposal of an autoscaler's metrics wins, so that the others can only add replicas to what it asks for.
func (w *Written) On(name string) (*Metric, error) {
	if len(w.Metrics) == 0 {
		return nil, w.wrong("scales on nothing: write an External metric of the total demand, type AverageValue")
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
		return nil, w.wrong("scales on %d metrics that can be played, say which: %s", len(found),
			strings.Join(names, ", "))
	case len(found) > 1:
		return nil, w.wrong("scales twice on a metric %.64q: keep one", name)
	case len(refused) > 0:
		return nil, w.wrong("%s", strings.Join(refused, "; "))
	}
	return nil, w.wrong("no metric %.64q, it scales on %s", name, strings.Join(names, ", "))
}

func (w *Written) wrong(format string, args ...any) error {
	return w.document.Err(w.By + ": " + fmt.Sprintf(format, args...))
}
