package accuracy

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/backtest"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
)

// replay processes the history with one model. After the context has ended, it takes no further step and makes no forecast.
type replay struct {
	backtest.Result
	peakForecaster

	name string
	err  error
	// judged is true if at least one forecast was judged.
	judged bool

	model forecaster.BacktestModel
	// stepped is called at every step. ended reports whether the context has ended.
	stepped func()
	ended   func() bool
}

// peakForecaster is the model that a BacktestModel fits.
type peakForecaster interface {
	forecast.Fitted
	MaxQuantile(h int, p float64) float64
}

// replay replays the history with all models concurrently. No model is ahead of another by more than one part, so that the result covers
// all models if the context ends.
func (p *plan) replay(ctx context.Context, progress func(done, total int, what string)) []*replay {
	const parts = 20 // The number of parts of a replay.
	names := p.models()
	out := make([]*replay, len(names))
	options := backtest.Options{Horizons: p.horizons, Quantiles: Levels(), First: p.first, Stride: p.stride}
	if p.first > p.season {
		options.Period = p.season
	}
	every, done := (p.series.Len()-p.first)/parts+1, 0
	together := newBarrier(len(names))
	defer context.AfterFunc(ctx, together.dissolve)()
	var mutex sync.Mutex
	var working sync.WaitGroup
	for i, name := range names {
		steps := 0
		m := &replay{name: name, ended: func() bool { return ctx.Err() != nil }, stepped: func() {
			steps++
			if steps%every != 0 {
				return
			}
			if progress != nil {
				mutex.Lock()
				done++
				progress(done, parts*len(names), "forecasts by "+name)
				mutex.Unlock()
			}
			together.wait()
		}}
		m.model = forecaster.BacktestModel{
			Config: forecaster.Config{Step: p.series.Step, Window: p.span(p.lead)}, Horizons: p.horizons,
		}
		if name != Forewarm {
			m.model.Candidate = name
		}
		out[i] = m
		working.Go(func() {
			defer together.leave()
			var err error
			if m.Result, err = backtest.Run(p.series, options, m); m.err == nil {
				m.err = err
			}
		})
	}
	working.Wait()
	return out
}

// barrier lets goroutines wait for each other.
type barrier struct {
	mutex            sync.Mutex
	moved            *sync.Cond
	members, waiting int
	// round counts how often all members have arrived.
	round     int
	dissolved bool
}

func newBarrier(members int) *barrier {
	b := &barrier{members: members}
	b.moved = sync.NewCond(&b.mutex)
	return b
}

// wait waits until all members wait.
func (b *barrier) wait() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	round := b.round
	b.waiting++
	b.endRound()
	for round == b.round && !b.dissolved {
		b.moved.Wait()
	}
}

// leave removes a member.
func (b *barrier) leave() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.members--
	b.endRound()
}

// dissolve releases all members.
func (b *barrier) dissolve() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.dissolved = true
	b.moved.Broadcast()
}

// endRound releases the waiting members if all members are waiting.
func (b *barrier) endRound() {
	if b.waiting == b.members {
		b.waiting = 0
		b.round++
		b.moved.Broadcast()
	}
}

// forecasts reports whether a forecast of the window peak at the horizon with index h can be judged.
func (m *replay) forecasts(h int) bool {
	if m.err != nil {
		return false
	}
	track := &m.Tracks[h]
	return slices.ContainsFunc(track.Peak, known) && slices.ContainsFunc(track.PeakQuantile[lossLevel], known)
}

func known(v float64) bool { return !math.IsNaN(v) }

// Name implements forecast.Model.
func (m *replay) Name() string { return m.name }

// Fit implements forecast.Model. The error is kept as the model's own.
func (m *replay) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.model.Fit(s)
	if err != nil {
		m.err = err
		return nil, err
	}
	m.peakForecaster = fitted.(peakForecaster) //nolint:errcheck,forcetypeassert,revive // By its documentation.
	return m, nil
}

// Update implements forecast.Fitted.
func (m *replay) Update(y float64) {
	if !m.ended() {
		m.peakForecaster.Update(y)
		m.stepped()
	}
}

// Forecast implements forecast.Fitted.
func (m *replay) Forecast(h int) forecast.Forecast {
	if m.ended() {
		unknown := slices.Repeat([]float64{math.NaN()}, h)
		return forecast.Forecast{Point: unknown, StdErr: unknown}
	}
	return m.peakForecaster.Forecast(h)
}

// MaxQuantile is the p-quantile of the highest value of the next h steps.
func (m *replay) MaxQuantile(h int, p float64) float64 {
	if m.ended() {
		return math.NaN()
	}
	return m.peakForecaster.MaxQuantile(h, p)
}
