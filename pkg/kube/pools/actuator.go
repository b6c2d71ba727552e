package pools

import (
	"context"
	"errors"
	"fmt"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// Actuator holds the chunks of pools that have their defaults. Errors that the user must correct are Problems; all
// others are retried.
type Actuator interface {
	// Hold requests a number of chunks of each capacity type, and returns what there is. It is idempotent.
	Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Desired) (Actual, error)
	// Observe returns what there is, and changes nothing.
	Observe(ctx context.Context, pool *v1alpha1.WarmPool) (Actual, error)
	// Release releases what the pool holds. When it returns without an error, its objects are deleted; placeholder
	// pods may still be terminating.
	Release(ctx context.Context, pool *v1alpha1.WarmPool) error
}

// Desired are the chunks to hold: Base of the first capacity type, Tail of the second, where there are two.
type Desired struct {
	Base, Tail int
}

// Actual is what a pool holds.
type Actual struct {
	// Types are the chunks by capacity type, in the pool's order; one without a name where it has none.
	Types []Count
	// Warning is what blocks the remaining chunks, for example a quota, with advice; empty where nothing does.
	Warning string
	// Before is the scale before the pool set it. It must be in the pool's status before the pool sets anything, so
	// that any leader can restore it. Nil for other actuators.
	Before *v1alpha1.ScaleBefore
}

// Count is the chunks of one capacity type: requested, and ready.
type Count = v1alpha1.CapacityTypeStatus

// Problem is an error that the user of a pool must correct. Reason is that of a condition.
type Problem struct { //nolint:errname // It is what a user is told in a condition; most are never seen as errors.
	Reason, Message string
}

// Error is the message.
func (p *Problem) Error() string { return p.Message }

func problem(reason, format string, args ...any) *Problem {
	return &Problem{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// AsProblem returns the Problem in an error; nil where there is none.
func AsProblem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return nil
}
