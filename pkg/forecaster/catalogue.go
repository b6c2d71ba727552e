package forecaster

import (
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
)

// The names of the candidates, as specs and selectors write them.
const (
	LastValue   = "last-value"
	RunningMax  = "running-max"
	LastSeason  = "last-season"
	SES         = "ses"
	Holt        = "holt"
	HoltWinters = "holt-winters"
	ARIMA       = "arima"
	Auto        = "auto"
)

// blueprint says how a candidate is made.
type blueprint struct {
	name string
	// free candidates cost nothing and are hard to beat; they always stand by and need no promotion.
	free  bool
	model func(Config) forecast.Model
}

func blueprints() []blueprint {
	return []blueprint{
		{name: LastValue, free: true, model: func(Config) forecast.Model { return naive.Last{} }},
		{name: RunningMax, free: true, model: func(c Config) forecast.Model {
			return naive.Max{Window: c.stepsIn(c.Window)}
		}},
		{name: LastSeason, free: true, model: func(c Config) forecast.Model {
			return naive.Seasonal{Period: c.season()}
		}},
		{name: SES, model: func(Config) forecast.Model { return smoothing.SES{} }},
		{name: Holt, model: func(Config) forecast.Model { return smoothing.Holt{Damped: true} }},
		{name: HoltWinters, model: func(c Config) forecast.Model {
			return smoothing.HoltWinters{Period: c.season(), Trend: smoothing.DampedTrend}
		}},
		{name: ARIMA, model: func(Config) forecast.Model { return newest{arima.Auto{MaxD: 1}, arimaReach} }},
		{name: Auto, model: func(c Config) forecast.Model { return auto(c) }},
	}
}

// autoBudget is the CPU time that the fit of the ensemble may take. It is about what all other candidates take together.
const autoBudget = 75 * time.Millisecond

// auto is the ensemble's points: what calibrates all candidates alike calibrates them, too.
func auto(c Config) ensemble.Points {
	return ensemble.Points{Auto: ensemble.Auto{Seasons: c.seasons(), Horizons: c.horizons(), Budget: autoBudget}}
}

// arimaReach is how many of the newest steps an ARIMA is fitted on: a day of minutes settles its few parameters, and the
// search for its order costs in proportion.
const arimaReach = 1440

// newest is a model that is fitted on the newest steps of a series alone.
type newest struct {
	forecast.Model
	steps int
}

func (n newest) Fit(s forecast.Series) (forecast.Fitted, error) {
	return n.Model.Fit(s.Slice(max(0, s.Len()-n.steps), s.Len()))
}

// Names are those of all candidates, in a fixed order.
func Names() []string {
	var out []string
	for _, b := range blueprints() {
		out = append(out, b.name)
	}
	return out
}

// Canonical is the name of a candidate however it is spelled (HoltWinters, holt_winters, holt-winters); ok is false
// where there is none.
func Canonical(name string) (canonical string, ok bool) {
	plain := func(s string) string {
		return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
	}
	i := slices.IndexFunc(Names(), func(n string) bool { return plain(n) == plain(name) })
	if i < 0 {
		return "", false
	}
	return Names()[i], true
}

func known(name string) bool {
	_, ok := Canonical(name)
	return ok
}

// chosen are the blueprints that take part: the free ones, and those named (all, where none is).
func chosen(names []string) []blueprint {
	return slices.DeleteFunc(blueprints(), func(b blueprint) bool {
		return len(names) > 0 && !b.free && !slices.ContainsFunc(names, func(n string) bool {
			canonical, _ := Canonical(n)
			return canonical == b.name
		})
	})
}
