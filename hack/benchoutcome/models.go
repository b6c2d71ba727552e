package main

import (
	"slices"
	stdsync "sync"
	"time"

	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/pkg/credible"
	"github.com/forewarm/forewarm/pkg/decide/ahead"
	"github.com/forewarm/forewarm/pkg/decide/outcome"
	"github.com/forewarm/forewarm/pkg/simulate/policy"
)

// models are those whose maxima of the window are features of the shape: what forewarm asks, and the ensemble.
func (t *trial) all() []ahead.Named {
	ensembled := max(time.Minute, t.step)
	return append(ahead.Models(t.step, t.window(), day), ahead.Named{Name: "auto", Config: ahead.Config{
		Model: ensemble.Points{Auto: ensemble.Auto{
			Seasons: []int{int(day / ensembled)}, Horizons: []int{1, int(t.window() / ensembled)},
		}},
		Step: t.step, Block: ensembled, Window: max(t.window(), ensembled), History: history, Refit: refit,
	}})
}

func modelNames() []string {
	return []string{ahead.ARIMA, ahead.HoltWinters, "auto"}
}

// inOrder are those of the models that are named, in the order of modelNames.
func inOrder(names []string) []string {
	return slices.DeleteFunc(modelNames(), func(name string) bool { return !slices.Contains(names, name) })
}

// forecasts are what each model forecasts for the window on one trace, computed once however many trials ask.
type forecasts map[string]func() ([]float64, error)

func newForecasts(t *trial) forecasts {
	out := forecasts{}
	for _, m := range t.all() {
		out[m.Name] = stdsync.OnceValues(func() ([]float64, error) { return t.forecast(m.Config) })
	}
	return out
}

// forecast lets a model forecast the whole trace, fitted anew on what came before.
func (t *trial) forecast(c ahead.Config) ([]float64, error) {
	p, err := ahead.New(c)
	if err != nil {
		return nil, err
	}
	var out []float64
	_, err = t.values(policy.NewPassing(t.credible(), func(s credible.Sample) { out = append(out, p.Push(s.Known())) }))
	return out, err
}

// credible is how the server would filter the demand.
func (t *trial) credible() credible.Config {
	c := t.config(1, 0)
	return outcome.Config{
		Shape: t.shapeConfig(), Autoscalers: []outcome.Autoscaler{{Spec: c.Spec}},
	}.Credible(0)
}

// taped forecasts what was recorded.
type taped struct{ values []float64 }

func (p *taped) Push(float64) float64 {
	v := p.values[0]
	p.values = p.values[1:]
	return v
}

// alone are the models that forewarm asks and that are no features here.
func (t *trial) alone() ([]outcome.Named, error) {
	var out []outcome.Named
	for _, m := range ahead.Models(t.step, t.window(), day) {
		if slices.Contains(t.models, m.Name) {
			continue
		}
		tapes, err := t.tapes([]string{m.Name})
		if err != nil {
			return nil, err
		}
		out = append(out, outcome.Named{Name: m.Name, Forecaster: tapes[0]})
	}
	return out, nil
}

// tapes are the forecasts of models of this trace, from the beginning.
func (t *trial) tapes(names []string) ([]outcome.Forecaster, error) {
	var out []outcome.Forecaster
	for _, name := range names {
		values, err := t.forecasts[name]()
		if err != nil {
			return nil, err
		}
		out = append(out, &taped{values})
	}
	return out, nil
}
