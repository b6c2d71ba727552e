package workloads

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// scale has the fields that are used of a workload's scale subresource.
type scale struct {
	// selector selects the pods of the replicas.
	selector labels.Selector
	// replicas is the desired number of replicas.
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
		// An empty selector would match every pod in the namespace.
		return scale{}, errSelector
	}
	// The field is omitted if the scale is zero.
	replicas, _, err := unstructured.NestedInt64(object, "spec", "replicas")
	return scale{selector: selector, replicas: replicas}, err
}

func (w *Watch) read(ctx context.Context, workload leadtime.Workload) (map[string]any, error) {
	version, err := schema.ParseGroupVersion(workload.APIVersion)
	if err != nil {
		return nil, err
	}
	kind := version.WithKind(workload.Kind).GroupKind()
	mapping, err := w.mapper.RESTMapping(kind, version.Version)
	if meta.IsNoMatchError(err) {
		// The cached kinds may be older than this one. The next attempt reads the kinds again.
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

// errSelector is returned for a scale without a selector.
var errSelector = errors.New("no selector")

// scaleError says why the scale of a workload could not be read, and whether the author of the Forecast must correct that.
func scaleError(w leadtime.Workload, err error) (problem *informer.ReadError, authors bool) {
	text := "cannot read the scale of " + w.Ref() + ", retrying"
	switch {
	case meta.IsNoMatchError(err):
		text, authors = fmt.Sprintf("the cluster has no kind %s in %s", w.Kind, w.APIVersion), true
	case apierrors.IsNotFound(err):
		text, authors = w.Ref()+" does not exist, or has no scale subresource", true
	case errors.Is(err, errSelector):
		text, authors = "the scale of "+w.Ref()+" selects no pods", true
	case apierrors.IsForbidden(err):
		text = "Forewarm is not allowed to read the scale of " + w.Ref() + ": apply deploy/default, or upgrade the chart"
	}
	return &informer.ReadError{Text: text, Cause: err}, authors
}
