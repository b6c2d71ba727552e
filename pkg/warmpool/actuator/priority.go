package actuator

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// DefaultPriorityClass is that of placeholders where the pool names none; deploy/warm-pools brings it.
const DefaultPriorityClass = "forewarm-balloon"

func priorityClass(pool *v1alpha1.WarmPool) string {
	if name := balloonOf(pool).PriorityClassName; name != "" {
		return name
	}
	return DefaultPriorityClass
}

// classes checks that a priority class is one for placeholders. Each is asked for once a minute.
type classes struct {
	client kubernetes.Interface
	now    func() time.Time
	sound  map[string]time.Time
}

func newClasses(client kubernetes.Interface, now func() time.Time) *classes {
	return &classes{client: client, now: now, sound: map[string]time.Time{}}
}

// check is a Problem where placeholders of a class would not give way to pods of the default priority, 0, or could put
// other pods out.
func (c *classes) check(ctx context.Context, name string) error {
	now := c.now()
	if at, known := c.sound[name]; known && now.Sub(at) < time.Minute {
		return nil
	}
	delete(c.sound, name)
	class, err := c.client.SchedulingV1().PriorityClasses().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return &Problem{Reason: "NoPriorityClass", Message: fmt.Sprintf(
			"there is no PriorityClass %s: apply deploy/warm-pools, or name another in spec.actuator.balloon", name)}
	case apierrors.IsForbidden(err):
		return &Problem{Reason: reasonForbidden, Message: fmt.Sprintf(
			"the PriorityClass %s must not be read: apply deploy/warm-pools", name)}
	case err != nil:
		return fmt.Errorf("read the PriorityClass %s: %w", name, err)
	case class.Value >= 0:
		return &Problem{Reason: "PriorityTooHigh", Message: fmt.Sprintf(
			"the PriorityClass %s has the value %d: placeholders would not give way to pods of priority 0; "+
				"name one of negative value, -10 for Cluster Autoscaler to make nodes for them", name, class.Value)}
	}
	c.sound[name] = now
	return nil
}
