package backtestcmd

import (
	"slices"
	"strings"

	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// The models beside those of the server's catalogue.
const (
	// forewarm is all of the server's candidates, of which the one that serves speaks.
	forewarm = "forewarm"
	autoETS  = "ets"
	mstl     = "mstl"
)

// entry is a model by the name it has on the command line.
type entry struct {
	name string
	// free costs nothing: no model that is worse is worth fitting.
	free bool
}

// free are the models that all others are measured against, in the order in which equals are told.
func free() []string {
	return []string{windowpeak.LastValue, windowpeak.LastSeason, windowpeak.RunningMax}
}

// fitted are the models that may be chosen.
func fitted() []string {
	out := []string{forewarm, autoETS, mstl}
	for _, name := range windowpeak.Names() {
		if !slices.Contains(free(), name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// usual are the models that are judged where none are named.
func usual() []string {
	return []string{forewarm, windowpeak.HoltWinters, windowpeak.ARIMA, windowpeak.Auto, autoETS, mstl}
}

// named is a model that may be chosen, however its name is spelled.
func named(name string) (string, bool) {
	if canonical, ok := windowpeak.Canonical(name); ok {
		return canonical, !slices.Contains(free(), canonical)
	}
	name = strings.ToLower(name)
	return name, slices.Contains(fitted(), name)
}

// chosen are the models to judge, the free ones last.
func (o *options) chosen() []entry {
	names := usual()
	if len(o.models) > 0 {
		names = nil
		for _, model := range o.models {
			if name, ok := named(model); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	var out []entry
	for _, name := range append(names, free()...) {
		out = append(out, entry{name: name, free: slices.Contains(free(), name)})
	}
	return out
}

// longETS is the longest season that exponential smoothing is given: its search costs in proportion, and R's ets stops
// at 24, too.
const longETS = 24

// model makes a model for a plan's series, calibrated as the server does it.
func (e entry) model(p plan) forecaster.Calibrated {
	out := forecaster.Calibrated{Config: p.config(), Horizons: p.horizons}
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
