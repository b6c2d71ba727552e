package pools

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// Limits of all status writes together.
const (
	writesPerSecond = 10
	burst           = 50
)

// urgency is how soon a change must be written.
type urgency int

const (
	unchanged urgency = iota
	routine
	urgent
)

// writeStatus writes a status that has changed, and emits events.
func (c *Controller) writeStatus(
	ctx context.Context, now time.Time, v *poolStep, status *v1alpha1.WarmPoolStatus,
) error {
	waited := now.Sub(v.written)
	switch urgencyOf(&v.Status, status) {
	case unchanged:
		if equality.Semantic.DeepEqual(status.Memory, v.Status.Memory) || waited < memorySteps*c.interval {
			return nil
		}
	case routine:
		if waited < statusSteps*c.interval {
			return nil
		}
	case urgent:
	}
	if !c.limiter.AllowN(now, 1) {
		return nil // The next step writes it.
	}
	v.written = now
	err := c.Pools.UpdateStatus(ctx, v.Pool, status)
	switch {
	case err == nil:
		for _, n := range changedConditions(v.Pool, status) {
			c.emitEvent(v.Pool, n)
		}
		return nil
	case isStale(err):
		return nil // The next step reads the changed pool.
	}
	return fmt.Errorf("write the status: %w", err)
}

// urgencyOf returns the urgency of the change between two statuses.
func urgencyOf(before, after *v1alpha1.WarmPoolStatus) urgency {
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
		return unchanged
	}
	return routine
}
