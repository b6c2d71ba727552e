package main

import (
	"slices"
	stdsync "sync"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/pkg/simulate"
	"github.com/forewarm/forewarm/pkg/simulate/policy"
)

// model is a forecaster whose maximum of the window is a feature of the shape.
type model struct {
	name    string
	block   time.Duration
	history time.Duration
	model   func(t *trial) forecast.Model
}

func models() []model {
	return []model{
		{"holt-winters", 5 * time.Minute, history, func(*trial) forecast.Model {
			return smoothing.HoltWinters{Period: int(day / (5 * time.Minute)), Trend: smoothing.DampedTrend}
		}},
		{"arima", time.Minute, day, func(*trial) forecast.Model { return arima.Auto{MaxD: 1} }},
		{"auto", time.Minute, history, func(t *trial) forecast.Model {
			return ensemble.Points{Auto: ensemble.Auto{
				Seasons: []int{int(day / time.Minute)}, Horizons: []int{1, int(t.window() / time.Minute)},
			}}
		}},
	}
}

func modelNames() []string {
	var names []string
	for _, m := range models() {
		names = append(names, m.name)
	}
	return names
}

// inOrder are those of the models that are named, in the order of models.
func inOrder(names []string) []string {
	return slices.DeleteFunc(modelNames(), func(name string) bool { return !slices.Contains(names, name) })
}

// forecasts are what each model forecasts for the window on one trace, computed once however many trials ask.
type forecasts map[string]func() ([]float64, error)

func newForecasts(t *trial) forecasts {
	out := forecasts{}
	for _, m := range models() {
		out[m.name] = stdsync.OnceValues(func() ([]float64, error) { return t.forecast(m) })
	}
	return out
}

// forecast lets a model forecast the whole trace, fitted anew every 6 hours on what came before.
func (t *trial) forecast(m model) ([]float64, error) {
	p, err := policy.NewModel(policy.Modelled{
		Model: m.model(
			t,
		),
		Block:   m.block,
		Window:  max(t.window(), m.block),
		History: m.history,
		Refit:   refit,
		Refresh: t.step,
	})
	if err != nil {
		return nil, err
	}
	return t.values(ahead{p})
}

// ahead serves what a forecaster forecasts, and not what is observed.
type ahead struct{ policy.Forecaster }

func (a ahead) Serve(o simulate.Observation) float64 { return a.Ahead(o) }

// taped forecasts what was recorded.
type taped struct{ values []float64 }

func (p *taped) Ahead(simulate.Observation) float64 {
	v := p.values[0]
	p.values = p.values[1:]
	return v
}

// tapes are the models' forecasts of this trace, from the beginning.
func (t *trial) tapes() ([]policy.Forecaster, error) {
	var out []policy.Forecaster
	for _, name := range t.models {
		values, err := t.forecasts[name]()
		if err != nil {
			return nil, err
		}
		out = append(out, &taped{values})
	}
	return out, nil
}
