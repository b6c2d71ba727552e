package actuator

import (
	"context"
	"errors"
	"fmt"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// Actuator holds the chunks of pools, whose defaults are filled in. Errors that a pool's user can mend are Problems; all
// others are for a retry.
type Actuator interface {
	// Hold makes it so that as many chunks of each capacity type are asked for, and says what there is. It changes nothing
	// where that is so already.
	Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Want) (Held, error)
	// Look says what there is, and changes nothing.
	Look(ctx context.Context, pool *v1alpha1.WarmPool) (Held, error)
	// Release gives back what the pool holds. Nothing that it made is left once it returns without an error; placeholders
	// may still be on their way out.
	Release(ctx context.Context, pool *v1alpha1.WarmPool) error
}

// Want are the chunks to hold: Base of the first capacity type, Tail of the second, where there are two.
type Want struct {
	Base, Tail int
}

// Held is what there is of a pool.
type Held struct {
	// Types are by capacity type, in the pool's order; one without a name where it has none.
	Types []Count
	// Remark is advice on what is in the way of the rest, for example a quota; empty where nothing is.
	Remark string
	// Before is what a scale had before the pool set it. It belongs into the pool's status, and nothing is set before it is
	// there: whoever leads when the pool goes, gives it back. Nil for other actuators.
	Before *v1alpha1.ScaleBefore
}

// Count are the chunks of one capacity type: asked for, and there.
type Count = v1alpha1.CapacityTypeStatus

// Problem is why a pool cannot be held, for its user to mend. Reason is in CamelCase, for a condition.
type Problem struct { //nolint:errname // It is what a user is told in a condition; most are never seen as errors.
	Reason, Message string
}

// Error is the message.
func (p *Problem) Error() string { return p.Message }

func problem(reason, format string, args ...any) *Problem {
	return &Problem{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// AsProblem is the Problem within an error, nil where there is none.
func AsProblem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return nil
}
