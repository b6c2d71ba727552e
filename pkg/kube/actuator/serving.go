package actuator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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
	autoscaling := schema.GroupVersion{Group: "autoscaling", Version: "v2"}
	keda := schema.GroupVersion{Group: "keda.sh", Version: "v1alpha1"}
	return []scaler{
		{v1alpha1.GroupVersion().WithResource("forecasts"), v1alpha1.ForecastKind, []string{"spec", "targetRef"}},
		{
			autoscaling.WithResource("horizontalpodautoscalers"),
			"HorizontalPodAutoscaler",
			[]string{"spec", "scaleTargetRef"},
		},
		{keda.WithResource("scaledobjects"), "ScaledObject", []string{"spec", "scaleTargetRef"}},
	}
}

// referring are the objects of a kind that refer to a target; none in a cluster that does not know the kind.
func (s *Scale) referring(
	ctx context.Context, k scaler, namespace string, target v1alpha1.TargetRef,
) ([]unstructured.Unstructured, error) {
	all, err := s.client.Resource(k.resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsForbidden(err):
		return nil, problem(reasonForbidden,
			"%ss must not be listed in %s, so that it is not known whether %s serves: apply deploy/rbac",
			k.kind, namespace, named(target))
	case err != nil:
		return nil, fmt.Errorf("list %ss in %s: %w", k.kind, namespace, err)
	}
	return slices.DeleteFunc(all.Items, func(object unstructured.Unstructured) bool {
		return !refers(&object, k.path, target)
	}), nil
}

// serving is a Problem where a target is a workload that serves: one that a Forecast is about, or an autoscaler scales.
func (s *Scale) serving(ctx context.Context, namespace string, target v1alpha1.TargetRef) error {
	for _, k := range scalers() {
		all, err := s.referring(ctx, k, namespace, target)
		if err != nil {
			return err
		}
		if len(all) > 0 {
			return problem("Serving",
				"%s serves: the %s %s refers to it; a pool never scales what serves. Name a target of the pool's own",
				named(target), k.kind, all[0].GetName())
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
		groupOf(field("apiVersion", "apps/v1")) == groupOf(target.APIVersion)
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
	pools := scaler{
		v1alpha1.GroupVersion().WithResource("warmpools"), v1alpha1.WarmPoolKind,
		[]string{"spec", "actuator", "scale", "targetRef"},
	}
	all, err := s.referring(ctx, pools, pool.Namespace, target)
	if err != nil {
		return err
	}
	for i := range all {
		if ByAge(&all[i], pool) < 0 {
			return problem(
				"TargetTaken",
				"the older pool %s sets the scale of %s: name another",
				all[i].GetName(),
				named(target),
			)
		}
	}
	return nil
}

// ByAge orders pools, the oldest first; of two that were made in the same second the first by name is the older.
func ByAge(a, b metav1.Object) int {
	one, other := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(one.Compare(other.Time), strings.Compare(a.GetName(), b.GetName()))
}
