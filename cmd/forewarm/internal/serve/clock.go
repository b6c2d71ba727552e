package serve

import (
	"context"
	"time"

	"github.com/forewarm/forewarm/pkg/kube/changes"
)

// wakingClock ends a wait of the refresh loop at a change of an object, too, so that a pause takes effect within a second. Not sooner:
// objects that change all the time must not keep the loop busy.
type wakingClock struct {
	WallClock

	wake changes.Signal // nil: nothing wakes it
}

// WaitUntil returns at t, after a change, or with the context's error before.
func (c wakingClock) WaitUntil(ctx context.Context, t time.Time) error {
	soon := c.Now().Add(time.Second)
	if !soon.Before(t) {
		return c.WallClock.WaitUntil(ctx, t)
	}
	if err := c.WallClock.WaitUntil(ctx, soon); err != nil {
		return err
	}
	c.wake.Wait(ctx, c.WallClock, t)
	return ctx.Err()
}
