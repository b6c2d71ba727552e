package pools

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// checkPriorityClass returns a Problem where pods of priority 0, the default, would not preempt placeholder pods of a
// class.
func checkPriorityClass(ctx context.Context, client kubernetes.Interface, name string) error {
	class, err := client.SchedulingV1().PriorityClasses().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return problem(
			v1alpha1.PoolReasonPriorityClassNotFound,
			"there is no PriorityClass %s: apply deploy/warm-pools, set warmPools.enforce in the chart, or name another in "+
				"spec.actuator.placeholderPods",
			name,
		)
	case apierrors.IsForbidden(err):
		return problem(v1alpha1.PoolReasonForbidden,
			"cannot read the PriorityClass %s: apply deploy/warm-pools, or set warmPools.enforce in the chart", name)
	case err != nil:
		return fmt.Errorf("read the PriorityClass %s: %w", name, err)
	case class.Value >= 0:
		return problem(v1alpha1.PoolReasonPriorityTooHigh,
			"the PriorityClass %s has the value %d, so pods of priority 0 would not preempt placeholder pods: "+
				"name one of negative value; Cluster Autoscaler adds nodes for -10 and above", name, class.Value)
	}
	return nil
}
