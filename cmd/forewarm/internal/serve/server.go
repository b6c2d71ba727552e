// Package serve is the command that runs the server. It combines the parts: the source of history, the Forecasts, the loop,
// and the APIs that serve its snapshots.
//
// The Kubernetes APIs are on one generic API server (api_*.go): external.metrics.k8s.io, custom.metrics.k8s.io,
// inspect.forewarm.dev, /metrics, /livez and /readyz. Cluster serves TLS and delegates authentication and authorization of
// every path to the cluster. Standalone serves the same paths as plain HTTP on loopback, where there is no cluster.
//
// KEDA's external scaler is served over gRPC (keda_*.go), with mutual TLS whose files are reloaded when they change, limits
// on what a client may cost, gRPC's own health service, and a stop that ends the streams.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/serve/telemetry"
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// NewDeps are the dependencies of the API server: the store and its metrics. The common conditions are those of all Forecasts; nil for
// none. The age of data is measured by now.
func NewDeps(
	snapshots *snapshot.Store, common func() []snapshot.Condition, now func() time.Time, log *slog.Logger,
) (Deps, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(telemetry.New(snapshots, now, common)); err != nil {
		return Deps{}, fmt.Errorf("metrics: %w", err)
	}
	return Deps{
		Snapshots: snapshots, Metrics: registry, Logger: log, Now: now,
	}, nil
}

// historyPatience is how long a new adapter replica waits for histories before it serves what it has.
const historyPatience = 10 * time.Minute

// HistoryCheck passes once no Forecast waits for its history, and none has only a part of it while another adapter replica serves; at
// the latest after ten minutes. Until then the error has the progress. A source that does not answer is waited for: the adapter replica
// that this one replaces serves meanwhile. A query that is wrong is not. From then on it passes always: a Forecast that is new, or whose
// source hangs, must not take the values of all others away.
func HistoryCheck(snapshots *snapshot.Store, now func() time.Time, anotherServes func() bool) run.Check {
	var (
		mu     sync.Mutex
		began  time.Time
		passed bool
	)
	return run.Check{Name: "history", Run: func() error {
		mu.Lock()
		defer mu.Unlock()
		s := snapshots.Load()
		switch {
		case passed:
			return nil
		case s == nil:
			return errors.New("the first refresh is under way")
		case began.IsZero():
			began = now()
		}
		waits := s.Pending > 0 || s.Partial > 0 && anotherServes()
		if passed = !waits || now().Sub(began) >= historyPatience; passed {
			return nil
		}
		all := len(s.Keys())
		if s.Pending > 0 {
			return fmt.Errorf("%d of %d Forecasts have history", all-s.Pending, all)
		}
		return fmt.Errorf(
			"%d of %d Forecasts have their whole history, and another adapter replica serves meanwhile",
			all-s.Partial,
			all,
		)
	}}
}

// StorageCheck checks that the embedded engine can store samples: its disk is not full.
func StorageCheck(engine *embedded.Engine) run.Check {
	return run.Check{Name: "storage", Run: engine.StorageError}
}

// wakingClock ends a wait of the refresh loop at a change of an object, too, so that a pause takes effect within a second. Not sooner:
// objects that change all the time must not keep the loop busy.
type wakingClock struct {
	run.WallClock

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
