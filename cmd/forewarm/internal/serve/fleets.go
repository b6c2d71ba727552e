package serve

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	events "k8s.io/client-go/tools/record"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/fleets"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/run"
)

// gpuFleets are the GPUFleets. Every adapter replica plans them, and the leader writes their statuses. Without --fleets there are none.
type gpuFleets struct {
	watch    *fleets.Watch
	cluster  *fleets.Cluster
	planner  *fleets.Planner
	statuses *fleets.StatusWriter
	store    *fleet.Store
}

func watchFleets(
	o Options, client *rest.Config, objects *forecasts.Objects, snapshots *snapshot.Store, log *slog.Logger,
) (out gpuFleets, err error) {
	if !o.Fleets {
		return gpuFleets{}, nil
	}
	if out.watch, err = fleets.NewWatch(client, log); err != nil {
		return gpuFleets{}, err
	}
	if out.cluster, err = fleets.NewCluster(client, o.FleetSources, log); err != nil {
		return gpuFleets{}, err
	}
	objects.SetFleets(out.watch)
	out.store = &fleet.Store{}
	out.planner = fleets.NewPlanner(fleets.Dependencies{
		Fleets: out.watch, Snapshots: snapshots, Workloads: objects, Cluster: out.cluster, Store: out.store,
	})
	out.statuses = fleets.NewStatusWriter(out.planner, out.watch, log)
	return out, nil
}

// run watches and plans until the context ends.
func (g gpuFleets) run(ctx context.Context) error {
	if g.watch == nil {
		<-ctx.Done()
		return nil
	}
	runAll(
		func() { _ = g.watch.Run(ctx) },   //nolint:errcheck // It is nil.
		func() { _ = g.cluster.Run(ctx) }, //nolint:errcheck // It is nil.
		func() { g.planner.Run(ctx, run.WallClock{}) },
	)
	return nil
}

func (g gpuFleets) lead(ctx context.Context, recorder events.EventRecorder) {
	if g.statuses != nil {
		g.statuses.SetEvents(recorder)
		g.statuses.Run(ctx, run.WallClock{})
	}
}

func (g gpuFleets) collectors() []prometheus.Collector {
	if g.statuses == nil {
		return nil
	}
	return []prometheus.Collector{g.statuses, g.statuses.Refused()}
}

// WaitForSync waits until the fleets were read, and reports whether that was before a timeout.
func (g gpuFleets) WaitForSync(ctx context.Context, timeout time.Duration) bool {
	return g.watch == nil || g.watch.WaitForSync(ctx, timeout)
}
