package dashboardtest

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock is a clock that is set. Set it before its first use.
type Clock struct{ now atomic.Int64 }

// Set sets the time.
func (c *Clock) Set(now time.Time) { c.now.Store(now.UnixNano()) }

// Now returns the time that was set last.
func (c *Clock) Now() time.Time { return time.Unix(0, c.now.Load()).UTC() }

// WaitUntil waits until the clock is set to a time, or the context ends.
func (c *Clock) WaitUntil(ctx context.Context, t time.Time) error {
	for c.Now().Before(t) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return ctx.Err()
}
