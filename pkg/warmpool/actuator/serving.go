package actuator

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// scaler is a kind of object that says of a workload that it is another's to scale.
type scaler struct {
	resource schema.GroupVersionResource
	kind     string
	// path leads to the reference.
	path []string
}

// scalers are the kinds that scale workloads which serve. What a Forecast is about serves, too.
func scalers() []scaler {
	return []scaler{
		{v1alpha1.GroupVersion().WithResource("forecasts"), "Forecast", []string{"spec", "targetRef"}},
		{
			schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
			"HorizontalPodAutoscaler",
			[]string{"spec", "scaleTargetRef"},
		},
		{
			schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"},
			"ScaledObject",
			[]string{"spec", "scaleTargetRef"},
		},
	}
}

// serving is a Problem where a target is a workload that serves: one that a Forecast is about, or an autoscaler scales.
func (s *Scale) serving(ctx context.Context, namespace string, target v1alpha1.TargetRef) error {
	for _, k := range scalers() {
		all, err := s.client.Resource(k.resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // A cluster without KEDA.
		}
		if apierrors.IsForbidden(err) {
			return &Problem{Reason: reasonForbidden, Message: fmt.Sprintf(
				"%ss must not be listed in %s, so that it is not known whether %s serves: apply deploy/rbac",
				k.kind, namespace, named(target))}
		}
		if err != nil {
			return fmt.Errorf("list %ss in %s: %w", k.kind, namespace, err)
		}
		for i := range all.Items {
			if refers(&all.Items[i], k.path, target) {
				return &Problem{Reason: "Serving", Message: fmt.Sprintf(
					"%s serves: the %s %s refers to it; a pool never scales what serves. Name a target of the pool's own",
					named(target),
					k.kind,
					all.Items[i].GetName(),
				)}
			}
		}
	}
	return nil
}

// refers says whether an object's reference is to a target, whatever version of its group either names.
func refers(object *unstructured.Unstructured, path []string, target v1alpha1.TargetRef) bool {
	found, _, err := unstructured.NestedMap(object.Object, path...)
	if err != nil {
		return false // It has none, and scales nothing.
	}
	field := func(name, standard string) string {
		if text, isText := found[name].(string); isText && text != "" {
			return text
		}
		return standard
	}
	// KEDA's default is a Deployment.
	return field("name", "") == target.Name && field("kind", "Deployment") == target.Kind &&
		groupOf(field("apiVersion", "apps/v1")) == groupOf(versionOf(target))
}

func groupOf(version string) string {
	v, err := schema.ParseGroupVersion(version)
	if err != nil {
		return version
	}
	return v.Group
}

// rival is a Problem where an older pool of the namespace sets a target already: two would undo each other's work, and the
// second would give back what the first had set.
func (s *Scale) rival(ctx context.Context, pool *v1alpha1.WarmPool, target v1alpha1.TargetRef) error {
	all, err := s.client.Resource(v1alpha1.GroupVersion().WithResource("warmpools")).Namespace(pool.Namespace).
		List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list WarmPools in %s: %w", pool.Namespace, err)
	}
	for i := range all.Items {
		other := &all.Items[i]
		if !refers(other, []string{"spec", "actuator", "scale", "targetRef"}, target) || !older(other, pool) {
			continue
		}
		return &Problem{Reason: "TargetTaken", Message: fmt.Sprintf(
			"the older pool %s sets the scale of %s: name another", other.GetName(), named(target))}
	}
	return nil
}

// older orders pools by age; of two that were made in the same second the first by name is the older.
func older(a, b metav1.Object) bool {
	one, other := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if !one.Equal(&other) {
		return one.Before(&other)
	}
	return a.GetName() < b.GetName()
}
