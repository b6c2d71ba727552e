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

const answer = "answer"

// fault is why a workload cannot be followed.
type fault struct {
	// kind tells faults apart that are logged apart; empty where only the author of the Forecast can mend it, answer where
	// it may pass.
	kind string
	// words are for a status. They leave out the cause, whose text may differ with every attempt.
	words string
	cause error
}

func (f *fault) Error() string { return f.words + ": " + f.cause.Error() }

func (f *fault) Unwrap() error { return f.cause }

// errSelector: a scale that does not select.
var errSelector = errors.New("no selector")

// scaleFault says why the scale of a workload could not be read.
func scaleFault(w leadtime.Workload, err error) *fault {
	switch {
	case meta.IsNoMatchError(err):
		return &fault{"", fmt.Sprintf("the cluster knows no kind %s of %s", w.Kind, w.APIVersion), err}
	case apierrors.IsNotFound(err):
		return &fault{"", w.Ref() + " is not there, or cannot be scaled", err}
	case apierrors.IsForbidden(err):
		return &fault{"scale", "cannot read the scale of " + w.Ref() + ": apply deploy/rbac", err}
	case errors.Is(err, errSelector):
		return &fault{"", "the scale of " + w.Ref() + " selects no pods", err}
	}
	return &fault{answer, "cannot read the scale of " + w.Ref() + ", trying again", err}
}

// podsFault says why pods could not be listed or watched.
func podsFault(w leadtime.Workload, err error) *fault {
	if apierrors.IsForbidden(err) {
		return &fault{"pods", "cannot list pods in " + w.Namespace + ": apply deploy/rbac", err}
	}
	return &fault{answer, "cannot list pods in " + w.Namespace + ", trying again", err}
}
