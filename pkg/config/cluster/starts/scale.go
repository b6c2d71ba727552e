package starts

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

// selector is the label selector of a workload's replicas, as its scale says it.
func (w *Watch) selector(ctx context.Context, workload leadtime.Workload) (string, error) {
	version, err := schema.ParseGroupVersion(workload.APIVersion)
	if err != nil {
		return "", err
	}
	kind := version.WithKind(workload.Kind).GroupKind()
	mapping, err := w.mapper.RESTMapping(kind, version.Version)
	if meta.IsNoMatchError(err) {
		// What was read of the cluster's kinds may be older than this one; the next attempt reads it anew.
		w.mapper.Reset()
	}
	if err != nil {
		return "", err
	}
	scale, err := w.scales.Resource(mapping.Resource).Namespace(workload.Namespace).
		Get(ctx, workload.Name, metav1.GetOptions{}, "scale")
	if err != nil {
		return "", err
	}
	text, _, err := unstructured.NestedString(scale.Object, "status", "selector")
	if err != nil {
		return "", fmt.Errorf("%w: %w", errSelector, err)
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errSelector, err)
	}
	if selector.Empty() {
		// An empty selector would be every pod of the namespace.
		return "", errSelector
	}
	return text, nil
}
