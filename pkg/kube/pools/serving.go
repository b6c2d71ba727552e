package pools

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// scaler is a kind of object whose reference to a workload means that it serves.
type scaler struct {
	resource schema.GroupVersionResource
	kind     string
	// path leads to the reference.
	path []string
}

// scalers returns the kinds that refer to serving workloads: autoscalers and Forecasts.
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

// referring returns the objects of a kind that refer to a target; none in a cluster without the kind.
func (s *Scale) referring(
	ctx context.Context, k scaler, namespace string, target v1alpha1.TargetRef,
) ([]unstructured.Unstructured, error) {
	all, err := s.client.Resource(k.resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsForbidden(err):
		return nil, problem(v1alpha1.PoolReasonForbidden,
			"cannot list %ss in %s, so it is unknown whether %s serves: apply deploy/default, or upgrade the chart",
			k.kind, namespace, refOf(target))
	case err != nil:
		return nil, fmt.Errorf("list %ss in %s: %w", k.kind, namespace, err)
	}
	return slices.DeleteFunc(all.Items, func(object unstructured.Unstructured) bool {
		return !refers(&object, k.path, target)
	}), nil
}

// checkServing returns a Problem where a target serves: a Forecast or an autoscaler refers to it.
func (s *Scale) checkServing(ctx context.Context, namespace string, target v1alpha1.TargetRef) error {
	for _, k := range scalers() {
		all, err := s.referring(ctx, k, namespace, target)
		if err != nil {
			return err
		}
		if len(all) > 0 {
			return problem(
				v1alpha1.PoolReasonTargetServes,
				"%s serves, because the %s %s refers to it. A pool never scales what serves: name a target of the pool's own",
				refOf(target),
				k.kind,
				all[0].GetName(),
			)
		}
	}
	return nil
}

// refers reports whether an object refers to a target, in any version of its group.
func refers(object *unstructured.Unstructured, path []string, target v1alpha1.TargetRef) bool {
	found, _, err := unstructured.NestedMap(object.Object, path...)
	if err != nil {
		return false // It refers to nothing.
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

// checkOlderPool returns a Problem where an older pool of the namespace scales the target: two would undo each
// other's work, and the second would restore what the first had set.
func (s *Scale) checkOlderPool(ctx context.Context, pool *v1alpha1.WarmPool, target v1alpha1.TargetRef) error {
	pools := scaler{
		v1alpha1.GroupVersion().WithResource("warmpools"), v1alpha1.WarmPoolKind,
		[]string{"spec", "actuator", "scale", "targetRef"},
	}
	all, err := s.referring(ctx, pools, pool.Namespace, target)
	if err != nil {
		return err
	}
	for i := range all {
		if informer.CompareAge(&all[i], pool) < 0 {
			return problem(v1alpha1.PoolReasonTargetOfOlderPool, "the older pool %s scales %s: name another target",
				all[i].GetName(), refOf(target))
		}
	}
	return nil
}
