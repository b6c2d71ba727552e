package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
)

// task is what a model is configured for: the seasons of the series, the furthest step ahead, and the steps that are
// served; none means all.
type task struct {
	seasons []int
	horizon int
	served  []int
}

// season is the shortest one.
func (t task) season() int { return t.seasons[0] }

// entry is a model with its name on the command line.
type entry struct {
	name string
	make func(task) forecast.Model
}

// defaultModel is the one whose rows carry no name.
const defaultModel = "auto"

func entries() []entry {
	return []entry{
		{defaultModel, func(t task) forecast.Model {
			return ensemble.Auto{Seasons: t.seasons, Horizon: t.horizon, Horizons: t.served}
		}},
		{
			"auto-no-season",
			func(t task) forecast.Model { return ensemble.Auto{Horizon: t.horizon, Horizons: t.served} },
		},
		{"last", func(task) forecast.Model { return naive.Last{} }},
		{"seasonal-naive", func(t task) forecast.Model { return naive.Seasonal{Period: t.season()} }},
		{"naive2", func(t task) forecast.Model { return naive.Deseasonalised{Period: t.season()} }},
		{"ses", func(task) forecast.Model { return smoothing.SES{} }},
		{"damped-holt", func(task) forecast.Model { return smoothing.Holt{Damped: true} }},
		{"holt-winters", func(t task) forecast.Model { return smoothing.HoltWinters{Period: t.season()} }},
		{"double-holt-winters", func(t task) forecast.Model {
			return smoothing.DoubleSeasonal{Periods: [2]int(t.seasons)}
		}},
		{"auto-ets", func(t task) forecast.Model { return ets.Auto{Period: t.season()} }},
		{"auto-arima", func(task) forecast.Model { return arima.Auto{} }},
		{"auto-sarima", func(t task) forecast.Model { return arima.Auto{Period: t.season()} }},
		{"mstl-ets", func(t task) forecast.Model { return decompose.Seasonal{Periods: t.seasons, Model: ets.Auto{}} }},
		{
			"mstl-arima",
			func(t task) forecast.Model { return decompose.Seasonal{Periods: t.seasons, Model: arima.Auto{}} },
		},
		{
			"profile-arima",
			func(t task) forecast.Model { return decompose.Profile{Day: t.season(), Model: arima.Auto{}} },
		},
	}
}

// withBudget is the default model with another budget.
func withBudget(budget time.Duration) entry {
	return entry{defaultModel + ", budget " + budget.String(), func(t task) forecast.Model {
		return ensemble.Auto{Seasons: t.seasons, Horizon: t.horizon, Horizons: t.served, Budget: budget}
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
