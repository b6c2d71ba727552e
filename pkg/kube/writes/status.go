package writes

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
)

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
