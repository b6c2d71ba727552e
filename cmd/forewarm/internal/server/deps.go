package server

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/apiserver"
	"github.com/forewarm/forewarm/pkg/serve/telemetry"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

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
