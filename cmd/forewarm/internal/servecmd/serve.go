package servecmd

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/apiserver"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/server"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// run serves until the context ends.
func run(ctx context.Context, o Options, log *slog.Logger) (err error) {
	board := &snapshot.Board{}
	deps, err := server.Deps(board, log)
	if err != nil {
		return err
	}
	objects, err := openForecasts(o, board, log)
	if err != nil {
		return err
	}
	deps.Ready = append([]apiserver.Check{objects.check}, deps.Ready...)
	past, err := openHistory(o, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, past.close()) }()
	loop, err := refresh.New(o.Refresh, past.source, objects.targets, board, log)
	if err != nil {
		return err
	}
	face, err := openFace(o, deps) //nolint:contextcheck // It opens the port and waits for nothing.
	if err != nil {
		return err
	}
	return server.RunParts(ctx, log, slices.Concat(objects.parts, past.parts, []server.Part{
		{Name: "server", Run: face.Run},
		{Name: "refresh", Run: func(ctx context.Context) error {
			if err := await(ctx, objects.check); err != nil {
				return nil //nolint:nilerr // The context ended before there was anything to refresh.
			}
			return loop.Run(ctx, server.Clock{})
		}},
	})...)
}

// face is a server of the snapshots.
type face interface {
	Run(ctx context.Context) error
}

// openFace opens the port.
func openFace(o Options, deps apiserver.Deps) (face, error) { //nolint:ireturn // One of two.
	if o.Standalone {
		return apiserver.NewStandalone(o.Local, deps)
	}
	return apiserver.NewCluster(o.Cluster, deps)
}

// await returns once the check holds: a snapshot before would say that there are no Forecasts.
func await(ctx context.Context, check apiserver.Check) error {
	const pause = 100 * time.Millisecond
	var clock server.Clock
	for check.Run() != nil {
		if err := clock.WaitUntil(ctx, clock.Now().Add(pause)); err != nil {
			return err
		}
	}
	return nil
}
