package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
)

// Part is something that runs until its context ends.
type Part struct {
	// Name for errors, "embedded engine".
	Name string
	Run  func(context.Context) error
}

// RunParts runs all parts until the context ends or one of them does, stops the others, waits for them and returns the
// error of the first that failed. A part that ends early without an error has failed too: what depends on it would wait
// for it in vain.
func RunParts(ctx context.Context, log *slog.Logger, parts ...Part) error {
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
				log.WarnContext(ctx, "stopping", "part", p.Name, "error", err)
			case ctx.Err() != nil:
			case err != nil:
				fail(fmt.Errorf("%s: %w", p.Name, err))
			default:
				fail(fmt.Errorf("%s ended by itself", p.Name))
			}
		})
	}
	running.Wait()
	return failure
}
