package servecmd

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	core "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/forewarm/forewarm/pkg/config/cluster"
	"github.com/forewarm/forewarm/pkg/ownership"
)

// groups is the watch over who holds the API groups, and what tells of it.
type groups struct {
	watch   *ownership.Watch
	client  kubernetes.Interface
	metrics prometheus.Gatherer
}

// watchGroups lets statuses say who holds the API groups.
func watchGroups(o Options, client *rest.Config, statuses *cluster.StatusWriter, log *slog.Logger) (*groups, error) {
	watch, err := ownership.New(client, o.service(), log)
	if err != nil {
		return nil, err
	}
	clients, err := kubernetes.NewForConfig(client)
	if err != nil {
		return nil, fmt.Errorf("make a client for events: %w", err)
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(watch); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	statuses.Add(watch.Conditions)
	return &groups{watch: watch, client: clients, metrics: registry}, nil
}

// events records events until it is shut down, which a replica does when it no longer leads.
func (g *groups) events(ctx context.Context) (recorder record.EventRecorder, shutdown func()) {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: g.client.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme.Scheme, core.EventSource{Component: "forewarm"}), broadcaster.Shutdown
}
