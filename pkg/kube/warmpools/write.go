package warmpools

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// All writes together are bounded: so many in a second, and so many at once after a rest.
const (
	writesPerSecond = 10
	burst           = 50
)

// weight is how much a reader would notice of a change.
type weight int

const (
	silent weight = iota
	ordinary
	urgent
)

// write writes a status where there is news in it, and tells what has changed.
func (c *Controller) write(ctx context.Context, now time.Time, v *visit, status *v1alpha1.WarmPoolStatus) error {
	waited := now.Sub(v.tried)
	switch weigh(&v.Status, status) {
	case silent:
		if equality.Semantic.DeepEqual(status.Memory, v.Status.Memory) || waited < keep*c.pace {
			return nil
		}
	case ordinary:
		if waited < gap*c.pace {
			return nil
		}
	case urgent:
	}
	if !c.limiter.AllowN(now, 1) {
		return nil // The next step has its turn.
	}
	v.tried = now
	err := c.Pools.UpdateStatus(ctx, v.Pool, status)
	switch {
	case err == nil:
		for _, n := range changes(v.Pool, status) {
			c.tell(v.Pool, n)
		}
		return nil
	case changed(err):
		return nil // The next step sees the pool as it is.
	}
	return fmt.Errorf("write the status: %w", err)
}

// weigh says how much news there is between two states of a status.
func weigh(before, after *v1alpha1.WarmPoolStatus) weight {
	switch {
	case before.ObservedGeneration != after.ObservedGeneration,
		before.State != after.State,
		!equality.Semantic.DeepEqual(before.ScaleBefore, after.ScaleBefore),
		!slices.Equal(before.Covered, after.Covered),
		!slices.EqualFunc(before.Conditions, after.Conditions, v1alpha1.SameCondition):
		return urgent
	}
	same := *after
	same.Memory = before.Memory
	if equality.Semantic.DeepEqual(before, &same) {
		return silent
	}
	return ordinary
}
