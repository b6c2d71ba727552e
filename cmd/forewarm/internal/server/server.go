// Package server combines the parts of forewarm: the source of history, the Forecasts, the loop, and the APIs that
// serve its snapshots.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/apiserver"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/serve/telemetry"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// Part runs until its context ends.
type Part struct {
	// Name for errors, for example "embedded engine".
	Name string
	Run  func(context.Context) error
}

// RunParts runs all parts until the context or one of them ends, stops the others, waits for them and returns the error
// of the first that failed. A part that ends early without an error has failed too, because other parts depend on it.
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

// Clock is the machine's clock. Packages outside cmd get it, or a time, as an argument.
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

// NewDeps are the dependencies of the API server: the board, its metrics, and the check that history has been read.
func NewDeps(board *snapshot.Board, log *slog.Logger) (apiserver.Deps, error) {
	var clock Clock
	registry := prometheus.NewRegistry()
	if err := registry.Register(telemetry.New(board, clock.Now)); err != nil {
		return apiserver.Deps{}, fmt.Errorf("metrics: %w", err)
	}
	return apiserver.Deps{
		Board: board, Metrics: registry, Logger: log, Now: clock.Now,
		Ready: []apiserver.Check{HistoryCheck(board)},
	}, nil
}

// HistoryCheck passes once the history of every Forecast has been queried.
func HistoryCheck(board *snapshot.Board) apiserver.Check {
	return apiserver.Check{Name: "history", Run: func() error { return CheckHistory(board.Load()) }}
}

// CheckHistory is nil once the history of every Forecast has been queried, with or without success; until then the error has
// the progress.
func CheckHistory(s *snapshot.Snapshot) error {
	if s == nil {
		return errors.New("the first refresh is under way")
	}
	if s.Pending > 0 {
		all := len(s.Keys())
		return fmt.Errorf("%d of %d Forecasts have history", all-s.Pending, all)
	}
	return nil
}

// StorageCheck checks that the embedded engine can store samples: its disk is not full.
func StorageCheck(engine *embedded.Engine) apiserver.Check {
	return apiserver.Check{Name: "storage", Run: engine.StorageError}
}

// Catalogue adapts package [signal] to package [manifest]. It confines a namespace's own queries to what it may read.
type Catalogue struct {
	// Label is the label by which every selector of a query is confined to the namespace.
	Label string
	// Free are the namespaces whose queries are not confined.
	Free []string
}

var _ manifest.Catalogue = Catalogue{}

// Render implements manifest.Catalogue.
func (Catalogue) Render(preset, namespace string, target v1alpha1.TargetRef) (manifest.Rendered, error) {
	p, err := signal.Lookup(preset)
	if err != nil {
		return manifest.Rendered{}, err
	}
	expr, err := p.Render(namespace, signal.Target{Kind: target.Kind, Name: target.Name})
	if err != nil {
		return manifest.Rendered{}, err
	}
	return manifest.Rendered{Expr: expr, Unit: p.Unit, Rate: p.Rate, Lookback: signal.Lookback(expr)}, nil
}

// Confine implements manifest.Catalogue.
func (c Catalogue) Confine(query, namespace string) (manifest.Rendered, error) {
	var err error
	if slices.Contains(c.Free, namespace) {
		err = signal.CheckQuery(query)
	} else {
		query, err = signal.Confine(query, c.Label, namespace)
	}
	if err != nil {
		return manifest.Rendered{}, err
	}
	return manifest.Rendered{Expr: query, Rate: signal.IsRate(query), Lookback: signal.Lookback(query)}, nil
}
