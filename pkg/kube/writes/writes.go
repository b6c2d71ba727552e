// Package writes sends the status of objects to the API server. It decides whether an error affects a single object or all of them.
//
// If the API server refuses an object, Forewarm tries again after a growing pause. Such objects get a small share of the writes, so that
// the objects of one namespace do not delay the objects of another. A step ends early only if the API server does not answer or refuses
// everything.
package writes

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
)

// Unavailable reports whether an error concerns the API server and not the object that was written: there was no answer, or the
// answer would be the same for every object. Forbidden concerns the object: policies, quotas and webhooks refuse single objects and
// namespaces by it. Where the right is missing altogether, each object pauses.
func Unavailable(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		sent := (*url.Error)(nil)
		return errors.As(err, &sent) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	}
	message := status.Status().Message
	switch {
	case strings.HasPrefix(message, "admission webhook "): // The webhook chooses the status code.
		return false
	case strings.HasPrefix(message, "etcdserver: "):
		return !strings.Contains(message, "request is too large")
	case strings.HasPrefix(message, "rpc error: "): // A request is too large for the etcd client (ResourceExhausted).
		return !strings.Contains(message, "code = ResourceExhausted")
	}
	return apierrors.IsUnauthorized(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
}

// IsStale reports that an object changed or was deleted since it was read.
func IsStale(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// Manager is the field manager of statuses.
const Manager = "forewarm"

// UpdateStatus replaces the status of an object, and sends nothing else of it. The API server rejects it if the object has changed or
// was replaced since it was read, and so the write of a previous leader.
func UpdateStatus(
	ctx context.Context, client dynamic.NamespaceableResourceInterface, object Object, status any,
) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	sent := &unstructured.Unstructured{Object: map[string]any{"status": content}}
	sent.SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	sent.SetNamespace(object.GetNamespace())
	sent.SetName(object.GetName())
	sent.SetUID(object.GetUID())
	sent.SetResourceVersion(object.GetResourceVersion())
	return client.Namespace(object.GetNamespace()).UpdateStatus(ctx, sent, metav1.UpdateOptions{FieldManager: Manager})
}
