package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// Loop serves what Forewarm serves: it steps the refresh loop by the clock of the observations, over a history that
// grows with them.
type Loop struct {
	history *history
	step    func(now time.Time) *snapshot.ForecastState
}

// noTimeout is the timeout of queries that are answered from memory: a slow machine must not change served values.
const noTimeout = 24 * time.Hour

// NewLoop steps one Forecast, whose step is the time between observations. Its demand is what arrived in each; for a
// target that is a rate, the loop itself takes the mean of a minute. The errors are those of the loop's
// configuration.
func NewLoop(ctx context.Context, target refresh.Job, config refresh.Config) (*Loop, error) {
	config.Timeout, config.Grace = noTimeout, noTimeout
	h := &history{step: target.Step}
	loop, err := refresh.New(config, h, singleTarget{target}, new(snapshot.Store), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	return &Loop{
		history: h,
		step:    func(now time.Time) *snapshot.ForecastState { return loop.Step(ctx, now).Get(target.Key) },
	}, nil
}

// Serve steps the loop and returns the value that an adapter would serve: NaN where it would answer with an error.
func (p *Loop) Serve(o Observation) float64 {
	entry := p.Outlook(o)
	if entry == nil || !entry.State.Serves() {
		return math.NaN()
	}
	return entry.Decision.Value
}

// Outlook steps the loop and returns all that is known then; nil where nothing is.
func (p *Loop) Outlook(o Observation) *snapshot.ForecastState {
	p.history.add(o)
	return p.step(o.At)
}

// Skip takes an observation without a step: what is known at the next step is the same, for it is read from the history.
func (p *Loop) Skip(o Observation) { p.history.add(o) }

// singleTarget is the set of one Forecast.
type singleTarget struct{ target refresh.Job }

// Targets are always the same.
func (o singleTarget) Targets(time.Time) []refresh.Job { return []refresh.Job{o.target} }

// history is what was observed so far, as a source. A sample belongs to the step at whose end it was taken.
type history struct {
	step   time.Duration
	start  time.Time
	values []float64
}

func (h *history) add(o Observation) {
	if h.values == nil {
		h.start = o.At.Truncate(h.step)
	}
	h.values = append(h.values, o.Arrived)
}

// Fetch answers from memory.
func (h *history) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	out := forecast.Series{Start: q.From, Step: q.Step, Values: make([]float64, q.Points())}
	known := false
	for i := range out.Values {
		out.Values[i] = h.at(out.TimeAt(i))
		known = known || !math.IsNaN(out.Values[i])
	}
	if !known {
		return forecast.Series{}, series.ErrNoSeries
	}
	return out, nil
}

func (h *history) at(t time.Time) float64 {
	if i := int(t.Sub(h.start) / h.step); !t.Before(h.start) && i < len(h.values) {
		return h.values[i]
	}
	return math.NaN()
}
