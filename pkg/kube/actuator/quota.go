package actuator

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// crowded says that a ResourceQuota leaves no room for a real pod because it counts placeholders. Such a pod is refused
// before there is anything for the scheduler to preempt, so that the pool keeps out what it was made for. Where quotas may
// not be listed nothing is said.
func crowded(ctx context.Context, client kubernetes.Interface, pool *v1alpha1.WarmPool) (string, error) {
	all, err := client.CoreV1().ResourceQuotas(pool.Namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("list the quotas of %s: %w", pool.Namespace, err)
	}
	chunk, class := counted(takes(&pool.Spec.Chunk.PodTemplate.Spec)), pool.Spec.Actuator.Balloon.PriorityClassName
	for i := range all.Items {
		q := &all.Items[i]
		if !counts(&q.Spec, class) {
			continue
		}
		if name, full := fullFor(chunk, &q.Status); full {
			used, hard := q.Status.Used[name], q.Status.Hard[name]
			return fmt.Sprintf(
				"the ResourceQuota %s counts placeholders, and with %s of %s %s used it refuses the real "+
					"pods that are to take their places: let it select other priority classes (scopeSelector, PriorityClass "+
					"NotIn [%s]), raise it, or lower spec.max",
				q.Name,
				used.String(),
				hard.String(),
				name,
				class,
			), nil
		}
	}
	return "", nil
}

// fullFor is the first resource by name of which a quota has less left than a pod takes.
func fullFor(pod corev1.ResourceList, quota *corev1.ResourceQuotaStatus) (corev1.ResourceName, bool) {
	for _, name := range slices.Sorted(maps.Keys(pod)) {
		left, bounded := quota.Hard[name]
		if !bounded {
			continue
		}
		left = left.DeepCopy()
		left.Sub(quota.Used[name])
		if amount := pod[name]; left.Cmp(amount) < 0 {
			return name, true
		}
	}
	return "", false
}

// counted are the resources of a pod under the names by which quotas count them.
func counted(r corev1.ResourceRequirements) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, amount := range r.Requests {
		out[corev1.DefaultResourceRequestsPrefix+name] = amount
		if overcommitted(name) {
			out[name] = amount // requests.cpu goes by cpu, too.
		}
	}
	for name, amount := range r.Limits {
		out["limits."+name] = amount
	}
	return out
}

// counts says whether a quota counts pods of a priority class that have requests and no deadline.
func counts(quota *corev1.ResourceQuotaSpec, class string) bool {
	for _, scope := range quota.Scopes {
		if scope == corev1.ResourceQuotaScopeBestEffort || scope == corev1.ResourceQuotaScopeTerminating {
			return false
		}
	}
	if quota.ScopeSelector == nil {
		return true
	}
	for _, e := range quota.ScopeSelector.MatchExpressions {
		named := slices.Contains(e.Values, class)
		switch {
		case e.ScopeName == corev1.ResourceQuotaScopeBestEffort, e.ScopeName == corev1.ResourceQuotaScopeTerminating:
			return false
		case e.ScopeName != corev1.ResourceQuotaScopePriorityClass:
		case e.Operator == corev1.ScopeSelectorOpIn && !named, e.Operator == corev1.ScopeSelectorOpNotIn && named,
			e.Operator == corev1.ScopeSelectorOpDoesNotExist:
			return false
		}
	}
	return true
}
