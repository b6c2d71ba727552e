package pools

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// QuotaWarning returns a warning where a ResourceQuota leaves no room for a real pod because it counts placeholder
// pods. The API server rejects such a pod before the scheduler can preempt anything, so the pool would block its own
// members. The pool has its defaults.
func QuotaWarning(ctx context.Context, client kubernetes.Interface, pool *v1alpha1.WarmPool) (string, error) {
	all, err := client.CoreV1().ResourceQuotas(pool.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("list the quotas of %s: %w", pool.Namespace, err)
	}
	chunk, class := quotaResources(
		chunkResources(&pool.Spec.Chunk.PodTemplate.Spec),
	), pool.Spec.Actuator.PlaceholderPods.PriorityClassName
	for i := range all.Items {
		q := &all.Items[i]
		if !quotaCounts(&q.Spec, class) {
			continue
		}
		if name, full := exhaustedResource(chunk, &q.Status); full {
			used, hard := q.Status.Used[name], q.Status.Hard[name]
			return fmt.Sprintf(
				"the ResourceQuota %s counts placeholder pods, and with %s of %s %s used it rejects the real "+
					"pods that need their places: let it select other priority classes (scopeSelector, PriorityClass "+
					"NotIn [%s]) beside a second quota for that one, raise it, or lower spec.max", q.Name, used.String(),
				hard.String(), name, class), nil
		}
	}
	return "", nil
}

// exhaustedResource returns the first resource, by name, of which a quota has less left than a pod requests.
func exhaustedResource(pod corev1.ResourceList, quota *corev1.ResourceQuotaStatus) (corev1.ResourceName, bool) {
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

// quotaResources returns the resources of a pod under the names that quotas use.
func quotaResources(r corev1.ResourceRequirements) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, amount := range r.Requests {
		out[corev1.DefaultResourceRequestsPrefix+name] = amount
		if isOvercommittable(name) {
			out[name] = amount // Quotas call requests.cpu cpu, too.
		}
	}
	for name, amount := range r.Limits {
		out["limits."+name] = amount
	}
	return out
}

// quotaCounts reports whether a quota counts pods of a priority class with requests and without a deadline.
func quotaCounts(quota *corev1.ResourceQuotaSpec, class string) bool {
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
