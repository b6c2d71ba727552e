package servecmd

import (
	"log/slog"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/server"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// history is the source, what has to run for it, and its end.
type history struct {
	source refresh.Source

	parts []server.Part
	close func()
}

// openHistory prepares the Prometheus, or opens the embedded engine's data.
func openHistory(o Options, log *slog.Logger) (*history, error) {
	source, err := prometheus.New(o.Prometheus)
	if err != nil {
		return nil, err
	}
	log.Info("history comes from a Prometheus")
	return &history{source: source, close: source.Close}, nil
}
