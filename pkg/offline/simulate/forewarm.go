package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// Forewarm serves what Forewarm decides on the demand between two observations. It is Loop without the refresh loop:
// nothing is rebuilt at anchors. While the history is no longer than what is kept, that changes nothing, except for
// suspect samples that are corroborated later.
type Forewarm struct {
	config     forecaster.Config
	forecaster *forecaster.Forecaster
	values     []float64
	newest     time.Time // The newest observation with a demand.
	deferrable forecast.Series
}

// NewForewarm returns a policy without history. The configuration must be valid; its step is the time between
// observations.
func NewForewarm(c forecaster.Config) *Forewarm {
	return &Forewarm{config: c, values: make([]float64, 1+len(c.ExtraSettings))}
}

// Defers sets the additional work that may wait until the configuration's deadline. Its step divides the step of the
// observations.
func (p *Forewarm) Defers(work forecast.Series) { p.deferrable = work }

// deferred returns the mean deferrable work since the previous observation.
func (p *Forewarm) deferred(at time.Time) float64 {
	if p.deferrable.Len() == 0 {
		return 0
	}
	sum, known := 0.0, 0
	for t := at.Add(-p.config.Step); t.Before(at); t = t.Add(p.deferrable.Step) {
		i := int(t.Sub(p.deferrable.Start) / p.deferrable.Step)
		if i >= 0 && i < p.deferrable.Len() && !math.IsNaN(p.deferrable.Values[i]) {
			sum += p.deferrable.Values[i]
			known++
		}
	}
	return sum / float64(known)
}

// Serve is the value for the coming step.
func (p *Forewarm) Serve(o Observation) float64 { return p.ServeAll(o)[0] }

// ServeAll returns the values for the next step, of the policy and of those that it was made for in addition; valid until the next call.
func (p *Forewarm) ServeAll(o Observation) []float64 {
	if p.forecaster == nil {
		p.forecaster = forecaster.New(p.config, forecaster.History{
			Series: forecast.Series{Start: o.At, Step: p.config.Step},
		})
	}
	if !math.IsNaN(o.Arrived) {
		p.newest = o.At
	}
	// float32, as in the server's store.
	p.forecaster.Step(demand.Reading{Demand: float64(float32(o.Arrived)), Deferrable: p.deferred(o.At)})
	p.forecaster.ValuesTo(p.values)
	age := o.At.Sub(p.newest) + p.config.Step // Its age when it is served.
	for i, v := range p.values {
		switch {
		case age >= forecaster.StaleAfter(p.config.Window, p.config.Step):
			p.values[i] = math.NaN()
		case math.IsNaN(v) || age > forecaster.FallbackAfter(p.config.Step):
			p.values[i] = p.forecaster.Fallback().Value
		}
	}
	return p.values
}

// Forecaster returns the forecaster that decides. It is nil before the first observation.
func (p *Forewarm) Forecaster() *forecaster.Forecaster { return p.forecaster }

// Loop serves what Forewarm serves: it steps the refresh loop by the clock of the observations, over a history that
// grows with them.
type Loop struct {
	history *history
	step    func(now time.Time) *snapshot.ForecastSnapshot
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
		step:    func(now time.Time) *snapshot.ForecastSnapshot { return loop.Step(ctx, now).Get(target.Key) },
	}, nil
}

// Serve steps the loop and returns the value that an adapter would serve, or NaN if the adapter would return an error.
func (p *Loop) Serve(o Observation) float64 {
	entry := p.Outlook(o)
	if entry == nil || !entry.State.Serves() {
		return math.NaN()
	}
	return entry.Decision.Value
}

// Outlook steps the loop and returns the snapshot of the Forecast. It is nil if nothing is known.
func (p *Loop) Outlook(o Observation) *snapshot.ForecastSnapshot {
	p.history.add(o)
	return p.step(o.At)
}

// Skip adds an observation without a step. The next step reads it from the history.
func (p *Loop) Skip(o Observation) { p.history.add(o) }

// singleTarget is a set with one Forecast.
type singleTarget struct{ target refresh.Job }

// List always returns the same.
func (o singleTarget) List(time.Time) []refresh.Job { return []refresh.Job{o.target} }

// history is the observations so far, as a source. A sample belongs to the step at whose end it was taken.
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
