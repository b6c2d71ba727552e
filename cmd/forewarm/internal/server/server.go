// Package server puts the parts of forewarm together: where history comes from, which Forecasts there are, the loop, and
// the faces that serve its snapshots.
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

// Deps are what the faces need: the board, its metrics, and the check that history has been read.
func Deps(board *snapshot.Board, log *slog.Logger) (apiserver.Deps, error) {
	var clock Clock
	registry := prometheus.NewRegistry()
	if err := registry.Register(telemetry.New(board, clock.Now)); err != nil {
		return apiserver.Deps{}, fmt.Errorf("metrics: %w", err)
	}
	return apiserver.Deps{
		Board: board, Metrics: registry, Logger: log, Now: clock.Now,
		Ready: []apiserver.Check{{Name: "history", Run: func() error { return History(board.Load()) }}},
	}, nil
}

// History is nil once the history of every Forecast has been asked for, whatever came of it; until then the error says
// how far it is.
func History(s *snapshot.Snapshot) error {
	if s == nil {
		return errors.New("the first refresh is under way")
	}
	if s.Pending > 0 {
		all := len(s.Keys())
		return fmt.Errorf("%d of %d Forecasts have history", all-s.Pending, all)
	}
	return nil
}

// Storing is the check that the embedded engine stores what it scrapes: its disk is not full.
func Storing(engine *embedded.Engine) apiserver.Check {
	return apiserver.Check{Name: "storage", Run: engine.Storing}
}

// Catalogue is package [signal], with all presets, as package [manifest] wants it. A namespace's own queries are held to what it
// may read.
type Catalogue struct {
	// Label that every selector of a query must carry with the namespace's name.
	Label string
	// Free are namespaces whose queries are not confined.
	Free []string
}

var _ manifest.Catalogue = Catalogue{}

// Render implements config.Catalogue.
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

// Confine implements config.Catalogue.
func (c Catalogue) Confine(query, namespace string) (manifest.Rendered, error) {
	var err error
	if slices.Contains(c.Free, namespace) {
		err = signal.Check(query)
	} else {
		query, err = signal.Confine(query, c.Label, namespace)
	}
	if err != nil {
		return manifest.Rendered{}, err
	}
	return manifest.Rendered{Expr: query, Rate: signal.IsRate(query), Lookback: signal.Lookback(query)}, nil
}
