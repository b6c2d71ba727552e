package pools

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/writes"
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
	waited := now.Sub(c.queue.Tried(v, now))
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
	written, err := c.queue.Step(ctx, now, []writes.Write{{Object: v.WarmPool, Do: func(ctx context.Context) error {
		return c.Pools.UpdateStatus(ctx, v.Pool, status)
	}}})
	if written > 0 {
		for _, n := range changedConditions(v.Pool, status) {
			c.emitEvent(v.Pool, n)
		}
	}
	return err
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
