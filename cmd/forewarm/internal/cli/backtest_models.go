package cli

import (
	"slices"
	"strings"

	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Models that are not in the server's catalogue.
const (
	// forewarm is the server's selection among all candidates.
	forewarm = "forewarm"
	autoETS  = "ets"
	mstl     = "mstl"
)

// entry is a model by the name it has on the command line.
type backtestEntry struct {
	name string
	// baseline costs nothing: no model that is worse is worth fitting.
	baseline bool
}

// baselines are the models that all others are compared with, in the order of equal ones.
func baselines() []string {
	return []string{windowpeak.LastValue, windowpeak.LastSeason, windowpeak.RunningMax}
}

// modelNames are the models that may be chosen.
func modelNames() []string {
	out := []string{forewarm, autoETS, mstl}
	for _, name := range windowpeak.CandidateNames() {
		if !slices.Contains(baselines(), name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// defaultModels are judged if none are named.
func defaultModels() []string {
	return []string{forewarm, windowpeak.HoltWinters, windowpeak.ARIMA, windowpeak.Auto, autoETS, mstl}
}

// parseModel is a model that may be chosen, however its name is spelled.
func parseModel(name string) (string, bool) {
	if canonical, ok := windowpeak.CanonicalName(name); ok {
		return canonical, !slices.Contains(baselines(), canonical)
	}
	name = strings.ToLower(name)
	return name, slices.Contains(modelNames(), name)
}

// selectedModels are the models to judge, the free ones last.
func (o *backtestOptions) selectedModels() []backtestEntry {
	names := defaultModels()
	if len(o.models) > 0 {
		names = nil
		for _, model := range o.models {
			if name, ok := parseModel(model); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	var out []backtestEntry
	for _, name := range append(names, baselines()...) {
		out = append(out, backtestEntry{name: name, baseline: slices.Contains(baselines(), name)})
	}
	return out
}

// longETS is the longest season that exponential smoothing is given: its search costs in proportion, and R's ets stops
// at 24, too.
const longETS = 24

// model makes a model for a plan's series, calibrated as the server does it.
func (e backtestEntry) model(p plan) forecaster.BacktestModel {
	out := forecaster.BacktestModel{Config: p.config(), Horizons: p.horizons}
	switch e.name {
	case forewarm: // All of them.
	case autoETS:
		period := p.season
		if period > longETS {
			period = 0
		}
		out.Model = ets.Auto{Period: period}
	case mstl:
		out.Model = decompose.Seasonal{Periods: p.periods(), Model: ets.Auto{}}
	default:
		out.Candidate = e.name
	}
	return out
}
