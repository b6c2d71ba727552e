package servecmd

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/apiserver"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/server"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/embedded"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// history is the source of history, with its metrics, its checks of /readyz and the parts that must run for it.
type history struct {
	source  refresh.Source
	metrics prom.Gatherers
	ready   []apiserver.Check
	parts   []server.Part
	close   func() error
}

// openHistory prepares a client of the Prometheus, or opens the embedded engine.
func openHistory(o Options, log *slog.Logger) (*history, error) {
	if o.Prometheus.URL == "" {
		return openEngine(o, log)
	}
	o.Prometheus.Timeout = o.Refresh.Timeout
	source, err := prometheus.New(o.Prometheus)
	if err != nil {
		return nil, err
	}
	return &history{source: source, close: func() error { source.Close(); return nil }}, nil
}

func openEngine(o Options, log *slog.Logger) (*history, error) {
	engine, err := embedded.Open(o.engine(), log)
	if err != nil {
		return nil, err
	}
	found := engine.Health()
	log.Info("embedded engine", "data", o.DataDir, "blocks", found.Blocks, "from", found.From, "to", found.To)
	counts := prom.NewRegistry()
	if err := counts.Register(engine); err != nil {
		return nil, errors.Join(fmt.Errorf("metrics: %w", err), engine.Close())
	}
	return &history{
		source: engine, metrics: prom.Gatherers{counts}, ready: []apiserver.Check{server.StorageCheck(engine)},
		parts: []server.Part{{Name: "embedded engine", Run: engine.Run}}, close: engine.Close,
	}, nil
}

// engine is the configuration of the embedded engine.
func (o *Options) engine() embedded.Config {
	return embedded.Config{
		Dir: o.DataDir, Retention: time.Duration(o.Retention), MaxBytes: int64(o.RetentionSize),
		ScrapeFile: o.ScrapeConfig, QueryTimeout: o.Refresh.Timeout,
	}
}
