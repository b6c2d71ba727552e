// Package serve is the command that runs the server. It combines the parts: the source of history, the Forecasts, the loop,
// and the APIs that serve its snapshots.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/refresh/traces"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
	"github.com/forewarm/forewarm/pkg/serve/kedaserver"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
)

// runServer serves until the context ends.
func runServer(ctx context.Context, o Options, log *slog.Logger) (err error) {
	snapshots := &snapshot.Store{}
	serving, err := openServingCertificates(&o, log)
	if err != nil {
		return err
	}
	spans, err := traces.Open(ctx, o.TracingConfig, o.Lease.Identity)
	if err != nil {
		return fmt.Errorf("--tracing-config-file: %w", err)
	}
	defer spans.Close(ctx, log)
	o.Refresh.Span = spans.Refresh
	granted, err := openTenants(o, log)
	if err != nil {
		return err
	}
	signals := catalogue.Signals{
		Label:   o.TenantLabel,
		Trust:   o.Trust,
		Free:    o.ClusterQueryNamespaces,
		Tenants: granted,
	}
	objects, err := openForecasts(o, serving, manifest.NewResolver(signals), snapshots, log)
	if err != nil {
		return err
	}
	deps, err := apiserver.NewDeps(snapshots, objects.common, run.WallClock{}.Now, log)
	if err != nil {
		return err
	}
	deps.Metrics, deps.Forecasts = prometheus.Gatherers{deps.Metrics, objects.metrics}, objects.files
	deps.Fleets = objects.fleets
	deps.Ready = []run.Check{objects.check, apiserver.HistoryCheck(snapshots, deps.Now, objects.served)}
	past, err := openHistory(o, granted, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, past.close()) }()
	deps.Metrics = slices.Concat(prometheus.Gatherers{deps.Metrics}, past.metrics, serving.metrics())
	deps.Ready = slices.Concat(deps.Ready, past.ready, serving.ready())
	loop, err := refresh.New(o.Refresh, spans.Source(past.source), objects.targets, snapshots, log)
	if err != nil {
		return err
	}
	faces, err := openServers(ctx, o, deps)
	if err != nil {
		return err
	}
	return run.Parts(ctx, log, slices.Concat(serving.parts(), objects.parts, past.parts, faces, []run.Part{
		{Name: "refresh", Run: func(ctx context.Context) error {
			if err := run.Await(ctx, objects.check); err != nil {
				return nil //nolint:nilerr // The context ended before there was anything to refresh.
			}
			return loop.Run(ctx, wakingClock{WallClock: run.WallClock{}, wake: objects.changed})
		}},
	})...)
}

// openServers opens the ports: the port for the Kubernetes APIs, and the port for KEDA if it is enabled.
func openServers(ctx context.Context, o Options, deps apiserver.Deps) ([]run.Part, error) {
	if !o.KEDA.Enabled() {
		apis, err := openAPIs(o, deps) //nolint:contextcheck // It opens the port and waits for nothing.
		if err != nil {
			return nil, err
		}
		return []run.Part{{Name: "server", Run: apis.Run}}, nil
	}
	o.KEDA.Fleets = deps.Fleets
	scaler, err := kedaserver.Open(ctx, o.KEDA, deps.Snapshots, deps.Now, deps.Logger)
	if err != nil {
		return nil, err
	}
	deps.Metrics = prometheus.Gatherers{deps.Metrics, scaler.Metrics()}
	apis, err := openAPIs(o, deps) //nolint:contextcheck // It opens the port and waits for nothing.
	if err != nil {
		return nil, errors.Join(err, scaler.Close())
	}
	return []run.Part{{Name: "server", Run: apis.Run}, {Name: "KEDA's scaler", Run: scaler.Run}}, nil
}

// apis is a server of the Kubernetes APIs.
type apis interface {
	Run(ctx context.Context) error
}

func openAPIs(o Options, deps apiserver.Deps) (apis, error) { //nolint:ireturn // One of two.
	if o.Standalone {
		return apiserver.NewStandalone(o.Local, deps)
	}
	return apiserver.NewCluster(o.Cluster, deps)
}

// wakingClock also ends a wait of the refresh loop when an object changes, so that a pause takes effect within a second. It does not end it
// sooner, so that objects that change all the time do not keep the loop busy.
type wakingClock struct {
	run.WallClock

	wake changes.Signal // If it is nil, nothing ends the wait early.
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
