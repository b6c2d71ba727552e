package workloads

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/leadtime"
)

// scale is what the scale sub-resource of a workload says.
type scale struct {
	// selector is the label selector of the replicas.
	selector string
	// replicas is how many are asked for.
	replicas int64
}

// scale reads the scale of a workload.
func (w *Watch) scale(ctx context.Context, workload leadtime.Workload) (scale, error) {
	object, err := w.read(ctx, workload)
	if err != nil {
		return scale{}, err
	}
	text, _, err := unstructured.NestedString(object, "status", "selector")
	if err != nil {
		return scale{}, fmt.Errorf("%w: %w", errSelector, err)
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return scale{}, fmt.Errorf("%w: %w", errSelector, err)
	}
	if selector.Empty() {
		// An empty selector would be every pod of the namespace.
		return scale{}, errSelector
	}
	// A scale that asks for none leaves the field out.
	replicas, _, err := unstructured.NestedInt64(object, "spec", "replicas")
	return scale{selector: text, replicas: replicas}, err
}

func (w *Watch) read(ctx context.Context, workload leadtime.Workload) (map[string]any, error) {
	version, err := schema.ParseGroupVersion(workload.APIVersion)
	if err != nil {
		return nil, err
	}
	kind := version.WithKind(workload.Kind).GroupKind()
	mapping, err := w.mapper.RESTMapping(kind, version.Version)
	if meta.IsNoMatchError(err) {
		// What was read of the cluster's kinds may be older than this one; the next attempt reads it anew.
		w.mapper.Reset()
	}
	if err != nil {
		return nil, err
	}
	found, err := w.scales.Resource(mapping.Resource).Namespace(workload.Namespace).
		Get(ctx, workload.Name, metav1.GetOptions{}, "scale")
	if err != nil {
		return nil, err
	}
	return found.Object, nil
}
