package pools

import (
	"context"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// ScaledByAnnotation of a cluster-scoped object names the only namespace whose pools may set its scale. Anyone who may write
// the object decides that: Forewarm's own right to the scale would otherwise be the right of every author of a WarmPool.
const ScaledByAnnotation = v1alpha1.GroupName + "/scaled-by-namespace"

// scaleTarget is an object that a pool may scale.
type scaleTarget struct {
	v1alpha1.TargetRef

	client dynamic.ResourceInterface
	// namespace is the namespace of the object; empty if the object is cluster-scoped.
	namespace string
}

// target returns the object to which a reference in a pool's namespace refers, if pools of that namespace may scale it. Every read of a
// scale goes through this method.
func (s *Scale) target(ctx context.Context, namespace string, ref v1alpha1.TargetRef) (*scaleTarget, error) {
	version, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil, problem(v1alpha1.PoolReasonTargetNotFound, "spec.actuator.scale.targetRef: %s", errorLine(err))
	}
	mapping, err := s.mapper.RESTMapping(version.WithKind(ref.Kind).GroupKind(), version.Version)
	switch {
	case meta.IsNoMatchError(err):
		s.mapper.Reset() // The cached kinds may be older than this one.
		return nil, problem(v1alpha1.PoolReasonTargetNotFound, "the cluster has no kind %s in %s: correct "+
			"spec.actuator.scale.targetRef", ref.Kind, ref.APIVersion)
	case err != nil:
		return nil, fmt.Errorf("look for the kind %s: %w", ref.Kind, err)
	case mapping.Scope.Name() == meta.RESTScopeNameNamespace:
		return &scaleTarget{ref, s.client.Resource(mapping.Resource).Namespace(namespace), namespace}, nil
	}
	client := s.client.Resource(mapping.Resource)
	return &scaleTarget{TargetRef: ref, client: client}, checkGranted(ctx, client, namespace, ref)
}

// checkGranted returns a Problem if the annotation of a cluster-scoped target does not list a namespace. It reads the target itself,
// because the scale subresource does not have the annotations of its object.
func checkGranted(
	ctx context.Context, client dynamic.ResourceInterface, namespace string, ref v1alpha1.TargetRef,
) error {
	const leaves = "%s is cluster-scoped, and %s, so the pool does not change its replicas: "
	object, err := client.Get(ctx, ref.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return problem(v1alpha1.PoolReasonTargetNotFound, "%s does not exist", refOf(ref))
	case apierrors.IsForbidden(err):
		return problem(v1alpha1.PoolReasonForbidden,
			leaves+"grant get on it to Forewarm's service account with a ClusterRole, "+
				"in addition to patch on its scale (docs/warm-pools.md)",
			refOf(ref), "Forewarm is not allowed to read which namespace may scale it")
	case err != nil:
		return fmt.Errorf("read %s: %w", refOf(ref), err)
	case object.GetAnnotations()[ScaledByAnnotation] != namespace:
		return problem(
			v1alpha1.PoolReasonTargetNotGranted,
			leaves+"ask its operator to set its annotation %s to %s, or use a target in the pool's namespace",
			refOf(
				ref,
			),
			"does not allow pools in the namespace "+namespace+" to scale it",
			ScaledByAnnotation,
			namespace,
		)
	}
	return nil
}

func (t *scaleTarget) String() string { return refOf(t.TargetRef) }

func refOf(ref v1alpha1.TargetRef) string { return ref.Kind + "/" + ref.Name }

// where describes the namespace of the object, for messages.
func (t *scaleTarget) where() string {
	if t.namespace == "" {
		return "the cluster"
	}
	return t.namespace
}

func (t *scaleTarget) read(ctx context.Context) (*autoscalingv1.Scale, error) {
	found, err := t.client.Get(ctx, t.Name, metav1.GetOptions{}, "scale")
	if err != nil {
		return nil, t.scaleError("read", err)
	}
	return decode[autoscalingv1.Scale](found.Object)
}

// set sets the replicas. If a version is given, the API server rejects the request if the target has changed.
func (t *scaleTarget) set(ctx context.Context, replicas int32, version string) error {
	patch := fmt.Sprintf(`{"metadata": {"resourceVersion": %q}, "spec": {"replicas": %d}}`, version, replicas)
	if version == "" {
		patch = fmt.Sprintf(`{"spec": {"replicas": %d}}`, replicas)
	}
	_, err := t.client.Patch(ctx, t.Name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: FieldManager}, "scale")
	if err != nil {
		return t.scaleError("set", err)
	}
	return nil
}

func (t *scaleTarget) scaleError(doing string, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return problem(v1alpha1.PoolReasonTargetNotFound, "%s does not exist in %s, or has no scale subresource",
			t, t.where())
	case apierrors.IsForbidden(err) && doing == "set":
		role := "a Role in " + t.namespace
		if t.namespace == "" {
			role = "a ClusterRole"
		}
		const text = "Forewarm is not allowed to set the scale of %s: grant patch on the scale to Forewarm's service account " +
			"with %s (deploy/ does not grant it, because that would allow Forewarm to scale everything)"
		return problem(v1alpha1.PoolReasonForbidden, text, t, role)
	case apierrors.IsForbidden(err):
		return problem(v1alpha1.PoolReasonForbidden,
			"Forewarm is not allowed to read the scale of %s: apply deploy/default, or upgrade the chart", t)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return problem(v1alpha1.PoolReasonRejected, "cannot %s the scale of %s: %s", doing, t, errorLine(err))
	}
	return fmt.Errorf("%s the scale of %s in %s: %w", doing, t, t.where(), err)
}

// scaler is a kind of object that refers to serving workloads.
type scaler struct {
	resource schema.GroupVersionResource
	kind     string
	// path is the path of the reference in the object.
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

// referring returns the objects of a kind that refer to a target. An empty namespace means all namespaces. The result is empty in a cluster
// without the kind.
func (s *Scale) referring(
	ctx context.Context, k scaler, namespace string, target *scaleTarget,
) ([]unstructured.Unstructured, error) {
	var out []unstructured.Unstructured
	list := func(o metav1.ListOptions) (runtime.Object, error) {
		return s.client.Resource(k.resource).Namespace(namespace).List(ctx, o)
	}
	err := eachItem(ctx, list, metav1.ListOptions{}, func(object runtime.Object) {
		if one, is := object.(*unstructured.Unstructured); is && refers(one, k.path, target.TargetRef) {
			out = append(out, *one)
		}
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsForbidden(err):
		return nil, problem(
			v1alpha1.PoolReasonForbidden,
			"Forewarm is not allowed to list %ss in %s, so it does not know whether %s serves demand: apply deploy/default, "+
				"or upgrade the chart",
			k.kind,
			target.where(),
			target,
		)
	case err != nil:
		return nil, fmt.Errorf("list %ss in %s: %w", k.kind, target.where(), err)
	}
	return out, nil
}

// checkServing returns a Problem if a target is a serving workload. That is the case if a Forecast or an autoscaler in its namespace refers
// to it. For a cluster-scoped target, objects of all namespaces are checked. The message does not contain names of objects outside the
// pool's namespace.
func (s *Scale) checkServing(ctx context.Context, namespace string, target *scaleTarget) error {
	for _, k := range scalers() {
		all, err := s.referring(ctx, k, target.namespace, target)
		if err != nil {
			return err
		}
		if len(all) > 0 {
			name := "the " + k.kind + " " + all[0].GetName()
			if other := all[0].GetNamespace(); other != namespace {
				name = fmt.Sprintf("a %s in the namespace %s", k.kind, other)
			}
			return problem(
				v1alpha1.PoolReasonTargetServes,
				"%s serves demand, because %s refers to it, and a pool never scales such a workload: use a target that "+
					"only the pool scales",
				target,
				name,
			)
		}
	}
	return nil
}

// refers reports whether an object refers to a target, in any version of its group.
func refers(object *unstructured.Unstructured, path []string, target v1alpha1.TargetRef) bool {
	found, _, err := unstructured.NestedMap(object.Object, path...)
	if err != nil {
		return false // The object refers to nothing.
	}
	field := func(name, standard string) string {
		if text, isText := found[name].(string); isText && text != "" {
			return text
		}
		return standard
	}
	// KEDA's default kind is Deployment.
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

// checkOlderPool returns a Problem if an older pool of the namespace scales the same target. Two pools would undo each other's work, and
// the second pool would restore the number that the first had set.
func (s *Scale) checkOlderPool(ctx context.Context, pool *v1alpha1.WarmPool, target *scaleTarget) error {
	all, err := s.referring(ctx, poolsBy("spec", "actuator", "scale", "targetRef"), pool.Namespace, target)
	if err != nil {
		return err
	}
	for i := range all {
		if informer.CompareAge[metav1.Object](&all[i], pool) < 0 {
			return problem(
				v1alpha1.PoolReasonTargetOfOlderPool,
				"the older pool %s already scales %s: use another target",
				all[i].GetName(),
				target,
			)
		}
	}
	before := pool.Status.ScaleBefore
	if target.namespace != "" || before != nil && before.TargetRef == target.TargetRef {
		return nil
	}
	return s.checkRestored(ctx, pool, target)
}

// checkRestored returns a Problem if a pool in any namespace has set a cluster-scoped target and has not restored it. This happens if the
// target's annotation was changed to another namespace. Pools that were never allowed to set the target do not matter.
func (s *Scale) checkRestored(ctx context.Context, pool *v1alpha1.WarmPool, target *scaleTarget) error {
	all, err := s.referring(ctx, poolsBy("status", "scaleBefore", "targetRef"), target.namespace, target)
	if err != nil {
		return err
	}
	for i := range all {
		if other := all[i].GetNamespace(); other != pool.Namespace {
			return problem(v1alpha1.PoolReasonTargetOfOlderPool,
				"a pool in the namespace %s has set the replicas of %s and has not restored them: "+
					"delete that pool while the target's annotation %s still contains the namespace of that pool",
				other, target, ScaledByAnnotation)
		}
	}
	return nil
}

// poolsBy returns the kind WarmPool, whose reference to a target is at a path.
func poolsBy(path ...string) scaler {
	return scaler{v1alpha1.GroupVersion().WithResource("warmpools"), v1alpha1.WarmPoolKind, path}
}
