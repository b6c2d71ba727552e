package main

import (
	"compress/gzip"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/dashboardtest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/serve/telemetry"
	"github.com/forewarm/forewarm/pkg/source/trace"
	"github.com/forewarm/forewarm/testdata/traces"
)

const (
	// known is the part of the trace that is history when the replay starts.
	known    = 11 * 24 * time.Hour
	replayed = 48 * time.Hour
)

// objects are the demo's Forecasts. A query is a column of the traces.
const objects = `
- metadata: {name: requests, namespace: demo}
  spec:
    targetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
    signal: {query: requests}
    objective: {late: "1%", wait: 30s}
    scaling: {target: "10", minReplicas: 1, maxReplicas: 40}
    leadTime: {mode: Fixed, duration: 5m}
    step: 1m
    history: 14d
- metadata: {name: gpu-busy, namespace: demo}
  spec:
    targetRef: {apiVersion: apps/v1, kind: Deployment, name: llm}
    signal: {query: gpu_busy}
    quantile: "0.95"
    leadTime: {mode: Fixed, duration: 5m}
    step: 1m
    history: 14d
`

// player is a source and a folder of Forecasts: the traces, from Monday, 5 October 2026 on. Requests are those of
// a second.
type player struct {
	columns map[string]forecast.Series
	targets []refresh.Job
}

func start() time.Time { return time.Date(2026, time.October, 5, 0, 0, 0, 0, time.UTC) }

// Targets implements refresh.Jobs.
func (p *player) Targets(time.Time) []refresh.Job { return p.targets }

// Fetch implements refresh.Source.
func (p *player) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	column := p.columns[q.Expr]
	out := forecast.Series{Start: q.From, Step: q.Step, Values: make([]float64, q.Points())}
	for i := range out.Values {
		at := int(q.From.Add(time.Duration(i)*q.Step).Sub(start()) / column.Step)
		out.Values[i] = math.NaN()
		if at >= 0 && at < column.Len() {
			out.Values[i] = column.Values[at]
		}
	}
	return out, nil
}

// plain is a catalogue without presets.
type plain struct{ manifest.OneSource }

func (plain) Ready(string, *v1alpha1.ForecastSpec, manifest.Source) string { return "" }

func (plain) Render(string, string, *v1alpha1.ForecastSpec, manifest.Source, time.Duration) (manifest.Rendered, error) {
	return manifest.Rendered{}, errors.New("no presets")
}

func (plain) Confine(query, _ string, _ manifest.Source) (manifest.Rendered, error) {
	return manifest.Rendered{Expr: query}, nil
}

func newPlayer() (*player, error) {
	p := &player{columns: map[string]forecast.Series{}}
	for file, column := range map[string]string{traces.Requests: "requests", traces.GPUBusy: "gpu_busy"} {
		opened, err := traces.Files.Open(file)
		if err != nil {
			return nil, err
		}
		unzipped, err := gzip.NewReader(opened)
		if err != nil {
			return nil, err
		}
		if p.columns[column], err = trace.ReadColumn(unzipped, column); err != nil {
			return nil, err
		}
	}
	for i := range p.columns["requests"].Values {
		p.columns["requests"].Values[i] /= 60
	}
	forecasts, err := readForecasts(strings.TrimSpace(objects))
	if err != nil {
		return nil, err
	}
	resolver := manifest.NewResolver(plain{})
	for _, object := range forecasts {
		target, problems := resolver.Resolve(object)
		if len(problems) > 0 {
			return nil, problems.ToAggregate()
		}
		p.targets = append(p.targets, target)
	}
	return p, nil
}

// replay plays the end of the traces minute by minute, and stores what /metrics says at each.
func replay(ctx context.Context, store *dashboardtest.Store) (end time.Time, err error) {
	p, err := newPlayer()
	if err != nil {
		return end, err
	}
	snapshots, clock, quiet := &snapshot.Store{}, &dashboardtest.Clock{}, slog.New(slog.DiscardHandler)
	clock.Set(start().Add(known))
	loop, err := refresh.New(refresh.Config{Grace: time.Minute}, p, p, snapshots, quiet)
	if err != nil {
		return end, err
	}
	pools, err := dashboardtest.NewPools(snapshots,
		dashboardtest.Member{Forecast: p.targets[0].Key, Target: 10, MaxReplicas: 40}, time.Minute)
	if err != nil {
		return end, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(telemetry.New(snapshots, clock.Now, nil), pools)
	end = start().Add(known + replayed)
	// An hour more than is drawn: queries look back.
	for now := start().Add(known - time.Hour); !now.After(end); now = now.Add(time.Minute) {
		clock.Set(now)
		loop.Step(ctx, now)
		if err := pools.Step(ctx, now); err != nil {
			return end, err
		}
		families, err := registry.Gather()
		if err != nil {
			return end, err
		}
		if err := appendFamilies(ctx, store, now, families); err != nil {
			return end, err
		}
	}
	return end, ctx.Err()
}
