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

// scale is the scale subresource of a workload.
type scale struct {
	// selector is the label selector of the replicas.
	selector string
	// replicas that are wanted.
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
		// An empty selector would match every pod of the namespace.
		return scale{}, errSelector
	}
	// A scale of zero omits the field.
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
		// The cached kinds may be older than this one; the next attempt reads them again.
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

const transient = "answer"

// watchError is why a workload cannot be watched.
type watchError struct {
	// kind distinguishes errors that are logged separately; empty where the author of the Forecast must correct it,
	// transient where it may pass.
	kind string
	// message is for a status. It omits the cause, whose text may differ with every attempt.
	message string
	cause   error
}

func (f *watchError) Error() string { return f.message + ": " + f.cause.Error() }

func (f *watchError) Unwrap() error { return f.cause }

// errSelector: a scale without a selector.
var errSelector = errors.New("no selector")

// scaleError returns why the scale of a workload could not be read.
func scaleError(w leadtime.Workload, err error) *watchError {
	switch {
	case meta.IsNoMatchError(err):
		return &watchError{"", fmt.Sprintf("the cluster has no kind %s of %s", w.Kind, w.APIVersion), err}
	case apierrors.IsNotFound(err):
		return &watchError{"", w.Ref() + " does not exist, or has no scale subresource", err}
	case apierrors.IsForbidden(err):
		return &watchError{
			"scale",
			"cannot read the scale of " + w.Ref() + ": apply deploy/default, or upgrade the chart",
			err,
		}
	case errors.Is(err, errSelector):
		return &watchError{"", "the scale of " + w.Ref() + " selects no pods", err}
	}
	return &watchError{transient, "cannot read the scale of " + w.Ref() + ", retrying", err}
}

// podsError returns why pods could not be listed or watched.
func podsError(w leadtime.Workload, err error) *watchError {
	if apierrors.IsForbidden(err) {
		return &watchError{
			"pods",
			"cannot list pods in " + w.Namespace + ": apply deploy/default, or upgrade the chart",
			err,
		}
	}
	return &watchError{transient, "cannot list pods in " + w.Namespace + ", retrying", err}
}
