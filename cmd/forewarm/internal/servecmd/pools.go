package servecmd

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/server"
	"github.com/forewarm/forewarm/pkg/config/cluster"
	"github.com/forewarm/forewarm/pkg/snapshot"
	"github.com/forewarm/forewarm/pkg/warmpool/actuator"
	"github.com/forewarm/forewarm/pkg/warmpool/controller"
)

// pools are the warm pools: every replica watches them, for the Forecasts that they cover; the leader keeps them.
type pools struct {
	watch      *controller.Watch
	controller *controller.Controller
	metrics    prometheus.Gatherer
}

// watchPools lets Forecasts look ahead less far where a pool stands ready, and pools hold what Forecasts ask for. A cluster
// that does not know WarmPools is none the worse: the watch says so once.
func watchPools(
	o Options, client *rest.Config, objects *cluster.Objects, board *snapshot.Board, log *slog.Logger,
) (*pools, error) {
	watch, err := controller.NewWatch(client, log)
	if err != nil {
		return nil, err
	}
	objects.Cover(watch)
	held, err := actuator.New(client, server.Clock{}.Now)
	if err != nil {
		return nil, err
	}
	keeper := controller.New(o.WarmPools, controller.Surroundings{
		Pools: watch, Board: board, Workloads: objects, Actuator: held,
	}, log)
	registry := prometheus.NewRegistry()
	if err := registry.Register(keeper); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return &pools{watch: watch, controller: keeper, metrics: registry}, nil
}

// before is a part that begins when the pools are known, or cannot be: a Forecast that is resolved before its pool would be
// learnt anew when that is known.
func (p *pools) before(run func(context.Context) error) func(context.Context) error {
	const patience = 10 * time.Second
	return func(ctx context.Context) error {
		p.watch.Settle(ctx, patience)
		return run(ctx)
	}
}
