package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		!sameScale(before.ScaleBefore, after.ScaleBefore),
		!slices.Equal(before.Covered, after.Covered),
		!slices.EqualFunc(before.Conditions, after.Conditions, sameCondition):
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

func sameScale(a, b *v1alpha1.ScaleBefore) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func sameCondition(a, b metav1.Condition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason
}

// wordsOf are the texts of a status. Their digits are left out: a message that counts seconds is not news each second.
func wordsOf(s *v1alpha1.WarmPoolStatus) []string {
	out := []string{digitless(s.Why), digitless(s.Next), digitless(s.LeadTimeSource)}
	for _, c := range s.Conditions {
		out = append(out, digitless(c.Message))
	}
	return out
}

func digitless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) || r == '.' {
			return -1
		}
		return r
	}, text)
}
