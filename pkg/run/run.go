// Package run contains what every long-running program needs: parts that run until their context ends, readiness checks, and the wall
// clock. Other packages get the clock, or a time, as an argument.
package run

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Part runs until its context ends.
type Part struct {
	// Name for errors, for example "embedded engine".
	Name string
	Run  func(context.Context) error
}

// Parts runs all parts until the context or one of them ends, stops the others, waits for them and returns the error
// of the first that failed. A part that ends early without an error has failed too, because other parts depend on it.
func Parts(ctx context.Context, log *slog.Logger, parts ...Part) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		running sync.WaitGroup
		once    sync.Once
		failure error
	)
	fail := func(err error) {
		once.Do(func() { failure = err })
		stop()
	}
	for _, p := range parts {
		running.Go(func() {
			err := p.Run(ctx)
			switch {
			case ctx.Err() != nil && err != nil:
				log.WarnContext(
					ctx,
					"a part of the program returned an error while it was stopping",
					"part",
					p.Name,
					"error",
					err,
				)
			case ctx.Err() != nil:
			case err != nil:
				fail(fmt.Errorf("%s: %w", p.Name, err))
			default:
				fail(fmt.Errorf("%s stopped unexpectedly", p.Name))
			}
		})
	}
	running.Wait()
	return failure
}

// Check reports whether one part of the program is ready: Run returns nil, or an error that says why not. Run must return immediately.
// The error is public, because anyone can read /readyz.
type Check struct {
	Name string
	Run  func() error
}

// Await returns once the checks pass, or with the context's error before.
func Await(ctx context.Context, checks ...Check) error {
	const pause = 100 * time.Millisecond
	var clock WallClock
	for _, check := range checks {
		for check.Run() != nil {
			if err := clock.WaitUntil(ctx, clock.Now().Add(pause)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Clock tells the time and waits for a time.
type Clock interface {
	Now() time.Time
	// WaitUntil returns at t, or with the context's error before.
	WaitUntil(ctx context.Context, t time.Time) error
}

// WallClock is the machine's clock.
type WallClock struct{}

// Now implements Clock.
func (WallClock) Now() time.Time { return time.Now() }

// WaitUntil implements Clock.
func (WallClock) WaitUntil(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
