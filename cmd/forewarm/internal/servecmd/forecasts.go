package servecmd

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/apiserver"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/server"
	"github.com/forewarm/forewarm/pkg/config"
	"github.com/forewarm/forewarm/pkg/config/cluster"
	"github.com/forewarm/forewarm/pkg/config/folder"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// forecasts are where the objects come from, and what has to run for them.
type forecasts struct {
	targets refresh.Targets

	parts []server.Part
	// check is nil once the objects have been read.
	check apiserver.Check
	// metrics are what is counted beside the snapshot.
	metrics prometheus.Gatherers
}

// openForecasts reads the folder, or prepares to watch the cluster and to write statuses back.
func openForecasts(o Options, board *snapshot.Board, log *slog.Logger) (*forecasts, error) {
	resolver := config.NewResolver(server.NewCatalogue(
		server.Tenancy{Label: o.TenantLabel, Free: o.ClusterQueryNamespaces}))
	if o.ConfigDir == "" {
		return watchForecasts(o, resolver, board, log)
	}
	files, err := folder.Open(o.ConfigDir, resolver, log)
	if err != nil {
		return nil, err
	}
	return &forecasts{
		targets: files,
		parts: []server.Part{{
			Name: "folder of Forecasts",
			Run:  func(ctx context.Context) error { return files.Run(ctx, server.Clock{}) },
		}},
		check: apiserver.Check{Name: "forecasts", Run: func() error { return nil }},
	}, nil
}

func watchForecasts(
	o Options, resolver *config.Resolver, board *snapshot.Board, log *slog.Logger,
) (*forecasts, error) {
	client, err := clientcmd.BuildConfigFromFlags("", o.Cluster.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("no cluster to read Forecasts from, set --kubeconfig or --config-dir: %w", err)
	}
	objects, err := cluster.NewObjects(client, resolver, log)
	if err != nil {
		return nil, err
	}
	leadership, err := cluster.NewLeadership(client, o.Lease, log)
	if err != nil {
		return nil, err
	}
	pools, err := watchPools(o, client, objects, board, log)
	if err != nil {
		return nil, err
	}
	statuses := cluster.NewStatusWriter(objects, board, log)
	groups, err := watchGroups(o, client, statuses, log)
	if err != nil {
		return nil, err
	}
	return &forecasts{
		targets: objects,
		parts: []server.Part{
			{Name: "watch of WarmPools", Run: pools.watch.Run},
			{Name: "watch of Forecasts", Run: pools.before(objects.Run)},
			{Name: "watch of APIServices", Run: groups.watch.Run},
			{Name: "leadership", Run: func(ctx context.Context) error {
				return leadership.Run(ctx, func(ctx context.Context) {
					recorder, shutdown := groups.events(ctx)
					defer shutdown()
					var others sync.WaitGroup
					others.Go(func() { groups.watch.Tell(ctx, recorder) })
					pools.controller.Tell(recorder)
					others.Go(func() { pools.controller.Run(ctx, server.Clock{}) })
					statuses.Tell(recorder)
					statuses.Run(ctx, server.Clock{})
					others.Wait()
				})
			}},
		},
		check:   apiserver.Check{Name: "forecasts", Run: objects.Check},
		metrics: prometheus.Gatherers{groups.metrics, pools.metrics},
	}, nil
}
