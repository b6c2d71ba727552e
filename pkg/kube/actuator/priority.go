package actuator

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// checkClass is a Problem where placeholders of a class would not give way to pods of the default priority, 0, or could put
// other pods out.
func checkClass(ctx context.Context, client kubernetes.Interface, name string) error {
	class, err := client.SchedulingV1().PriorityClasses().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return problem("NoPriorityClass",
			"there is no PriorityClass %s: apply deploy/warm-pools, or name another in spec.actuator.balloon", name)
	case apierrors.IsForbidden(err):
		return problem(reasonForbidden, "the PriorityClass %s must not be read: apply deploy/warm-pools", name)
	case err != nil:
		return fmt.Errorf("read the PriorityClass %s: %w", name, err)
	case class.Value >= 0:
		return problem("PriorityTooHigh",
			"the PriorityClass %s has the value %d: placeholders would not give way to pods of priority 0; "+
				"name one of negative value, -10 for Cluster Autoscaler to make nodes for them", name, class.Value)
	}
	return nil
}
