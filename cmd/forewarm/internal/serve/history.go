package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/source/embedded"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
	"github.com/forewarm/forewarm/pkg/source/tenants"
)

// history is the source of history, with its metrics, its checks of /readyz and the parts that must run for it.
type history struct {
	source  refresh.Source
	metrics prom.Gatherers
	ready   []run.Check
	parts   []run.Part
	close   func() error
}

// openHistory prepares a client for the Prometheus or, if there are sources by namespace, clients for these. Without a Prometheus, it opens
// the embedded engine.
func openHistory(o Options, granted *tenants.Sources, log *slog.Logger) (*history, error) {
	switch {
	case granted != nil:
		return byNamespace(granted)
	case o.Prometheus.URL == "":
		return openEngine(o, log)
	}
	o.Prometheus.Timeout, o.Prometheus.Hidden = o.Refresh.Timeout, !o.Standalone
	source, err := prometheus.New(o.Prometheus)
	if err != nil {
		return nil, err
	}
	return &history{source: source, close: func() error { source.Close(); return nil }}, nil
}

// openTenants reads the file with the sources by namespace; nil if there is one source for all namespaces.
func openTenants(o Options, log *slog.Logger) (*tenants.Sources, error) {
	if o.SourcesFile == "" {
		return nil, nil //nolint:nilnil // There is none.
	}
	config := tenants.Config{
		File: o.SourcesFile, Timeout: o.Refresh.Timeout, Now: run.WallClock{}.Now, PodIdentity: o.SourcesPodIdentity,
	}
	sources, err := tenants.Open(config, log)
	if err != nil {
		return nil, fmt.Errorf("--sources-file: %w", err)
	}
	return sources, nil
}

func byNamespace(sources *tenants.Sources) (*history, error) {
	metrics, err := gather(sources)
	if err != nil {
		return nil, err
	}
	return &history{
		source: sources, metrics: metrics,
		parts: []run.Part{{
			Name: "file of sources",
			Run:  func(ctx context.Context) error { return sources.Run(ctx, run.WallClock{}) },
		}},
		close: func() error { sources.Close(); return nil },
	}, nil
}

func openEngine(o Options, log *slog.Logger) (*history, error) {
	engine, err := embedded.Open(engineConfig(&o), log)
	if err != nil {
		return nil, err
	}
	found := engine.Health()
	log.Info("embedded engine", "data", o.DataDir, "blocks", found.Blocks, "from", found.From, "to", found.To)
	metrics, err := gather(engine)
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return &history{
		source: engine, metrics: metrics, ready: []run.Check{{Name: "storage", Run: engine.StorageError}},
		parts: []run.Part{{Name: "embedded engine", Run: engine.Run}}, close: engine.Close,
	}, nil
}

// engineConfig is the configuration of the embedded engine.
func engineConfig(o *Options) embedded.Config {
	return embedded.Config{
		Dir: o.DataDir, Retention: time.Duration(o.Retention), MaxBytes: int64(o.RetentionSize),
		ScrapeFile: o.ScrapeConfig, QueryTimeout: o.Refresh.Timeout,
	}
}
