package main

import (
	"fmt"
	"strings"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/autoregress"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/direct"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/forecast/transform"
)

// task is what a model is configured for.
type task struct {
	// season is the one for models that know a single one; seasons are a day and a week.
	season  int
	seasons []int
	// horizon is the furthest step ahead, and served are those that are served; none means all.
	horizon int
	served  []int
	// history is the shortest that the model is fitted to.
	history int
}

// entry is a model with its name on the command line.
type entry struct {
	name string
	make func(task) forecast.Model
}

// defaultModel is the one whose rows carry no name; the two others are what every set is measured by.
const (
	defaultModel  = "auto"
	seasonalNaive = "seasonal-naive"
	naive2        = "naive2"
)

func entries() []entry {
	return []entry{
		{defaultModel, func(t task) forecast.Model { return t.auto() }},
		{"auto-no-season", func(t task) forecast.Model { return task{horizon: t.horizon, served: t.served}.auto() }},
		{"last", func(task) forecast.Model { return naive.Last{} }},
		{seasonalNaive, func(t task) forecast.Model {
			if t.history <= t.season || t.season < 2 {
				return naive.Last{}
			}
			return naive.Seasonal{Period: t.season}
		}},
		{naive2, func(t task) forecast.Model { return naive.Deseasonalised{Period: t.season} }},
		{"ses", func(task) forecast.Model { return smoothing.SES{} }},
		{"damped-holt", func(task) forecast.Model { return smoothing.Holt{Damped: true} }},
		{"holt-winters", func(t task) forecast.Model { return smoothing.HoltWinters{Period: t.season} }},
		{"double-holt-winters", func(t task) forecast.Model {
			return smoothing.DoubleSeasonal{Periods: [2]int(t.seasons)}
		}},
		{"auto-ets", func(t task) forecast.Model { return ets.Auto{Period: t.season} }},
		{"auto-arima", func(task) forecast.Model { return arima.Auto{} }},
		{"auto-sarima", func(t task) forecast.Model { return arima.Auto{Period: t.season} }},
		{"sarima", func(t task) forecast.Model {
			return arima.ARIMA{P: 2, Q: 1, Seasonal: arima.Seasonal{D: 1, Q: 1, Period: t.season}}
		}},
		{"log-ridge", func(t task) forecast.Model {
			lags := autoregress.SeasonalLags(t.seasons...)
			return transform.Log{Model: autoregress.Ridge{Lags: lags, HalfLife: 2.5 * float64(t.seasons[1])}}
		}},
		{"log-direct", func(t task) forecast.Model { return transform.Log{Model: direct.Direct{Horizon: t.horizon}} }},
		{"mstl-ets", func(t task) forecast.Model { return decompose.Seasonal{Periods: t.seasons, Model: ets.Auto{}} }},
		{"mstl-arima", func(t task) forecast.Model {
			return decompose.Seasonal{Periods: t.seasons, Model: arima.Auto{}}
		}},
		{"profile-arima", func(t task) forecast.Model { return decompose.Profile{Day: t.season, Model: arima.Auto{}} }},
	}
}

// auto is the default model.
func (t task) auto() ensemble.Auto {
	return ensemble.Auto{Seasons: t.seasons, Horizon: t.horizon, Horizons: t.served}
}

// variant is the default model with other options.
func variant(name string, change func(*ensemble.Auto)) entry {
	return entry{defaultModel + name, func(t task) forecast.Model {
		auto := t.auto()
		change(&auto)
		return auto
	}}
}

func modelNames() []string {
	var names []string
	for _, e := range entries() {
		names = append(names, e.name)
	}
	return names
}

func modelNamed(name string) (entry, error) {
	for _, e := range entries() {
		if e.name == name {
			return e, nil
		}
	}
	return entry{}, fmt.Errorf("unknown model %q: write one of %s", name, strings.Join(modelNames(), ", "))
}

// rowModel is the model's name in a row, empty for the default model.
func rowModel(name string) string {
	if name == defaultModel {
		return ""
	}
	return name
}
