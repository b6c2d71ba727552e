package server

import (
	"context"
	"time"
)

// Clock is the machine's. Everything below cmd is handed it, or a time.
type Clock struct{}

// Now is the time.
func (Clock) Now() time.Time { return time.Now() }

// WaitUntil returns at t, or with the context's error before.
func (Clock) WaitUntil(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
