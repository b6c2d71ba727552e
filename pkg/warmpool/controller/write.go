package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/api/statuses"
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
		if status.Memory == v.Status.Memory || waited < keep*c.pace {
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
		!statuses.Same(before.ScaleBefore, after.ScaleBefore),
		!slices.Equal(before.Covered, after.Covered),
		!slices.EqualFunc(before.Conditions, after.Conditions, statuses.SameCondition):
		return urgent
	case before.Wanted != after.Wanted, before.Held != after.Held, before.Ready != after.Ready,
		before.Borrowed != after.Borrowed, before.IdleToday != after.IdleToday, before.BudgetLeft != after.BudgetLeft,
		before.LeadTime != after.LeadTime, before.NodeLeadTime != after.NodeLeadTime,
		!slices.Equal(before.ByCapacityType, after.ByCapacityType),
		!slices.Equal(wordsOf(before), wordsOf(after)):
		return ordinary
	}
	return silent
}

// wordsOf are the texts of a status. Their digits are left out: a message that counts seconds is not news each second.
func wordsOf(s *v1alpha1.WarmPoolStatus) []string {
	out := []string{statuses.Digitless(s.Why), statuses.Digitless(s.Next), statuses.Digitless(s.LeadTimeSource)}
	for _, c := range s.Conditions {
		out = append(out, statuses.Digitless(c.Message))
	}
	return out
}
