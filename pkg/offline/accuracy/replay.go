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

// replay is a model on its way through the history. Once the context has ended it takes no further step and makes no forecast.
type replay struct {
	backtest.Result
	peakForecaster

	name string
	err  error
	// judged is true if a forecast counted.
	judged bool

	model forecaster.BacktestModel
	// stepped is called at every step, ended reports whether the context has ended.
	stepped func()
	ended   func() bool
}

// peakForecaster is what a BacktestModel fits.
type peakForecaster interface {
	forecast.Fitted
	MaxQuantile(h int, p float64) float64
}

// replay replays the history to all models at the same time.
func (p *plan) replay(ctx context.Context, progress func(done, total int, what string)) []*replay {
	const parts = 20 // of a replay, for the progress
	names := p.models()
	out := make([]*replay, len(names))
	options := backtest.Options{Horizons: p.horizons, Quantiles: Levels(), First: p.first, Stride: p.stride}
	if p.first > p.season {
		options.Period = p.season
	}
	every, done := (p.series.Len()-p.first)/parts+1, 0
	var mutex sync.Mutex
	var working sync.WaitGroup
	for i, name := range names {
		steps := 0
		m := &replay{name: name, ended: func() bool { return ctx.Err() != nil }, stepped: func() {
			steps++
			if steps%every != 0 || progress == nil {
				return
			}
			mutex.Lock()
			defer mutex.Unlock()
			done++
			progress(done, parts*len(names), "forecasts by "+name)
		}}
		m.model = forecaster.BacktestModel{
			Config: forecaster.Config{Step: p.series.Step, Window: p.span(p.lead)}, Horizons: p.horizons,
		}
		if name != Forewarm {
			m.model.Candidate = name
		}
		out[i] = m
		working.Go(func() {
			var err error
			if m.Result, err = backtest.Run(p.series, options, m); m.err == nil {
				m.err = err
			}
		})
	}
	working.Wait()
	return out
}

// forecasts reports whether a forecast of the window peak at a horizon, by its index, can be judged.
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
