package ahead

import (
	"time"

	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/smoothing"
)

// The names of the models that are asked about every window.
const (
	HoltWinters = "holt-winters"
	ARIMA       = "arima"
)

// Named is a model by its name.
type Named struct {
	Name string
	// Feature says that what is learnt of the window's maximum gains by the model: on recorded demand one objective for all
	// workloads costs less with it than without.
	Feature bool
	Config
}

// Models are the forecasting models that are asked about a window of a demand with a season.
//
// Between fits a model's state moves on with every block, and the coefficients of a demand hardly change: with fits every
// three days, the first after three, forewarm serves recorded demand at no more cost than with fits every six hours. Until
// then the demand of now stands in.
func Models(step, window, season time.Duration) []Named {
	const day, minute, refit = 24 * time.Hour, time.Minute, 72 * time.Hour
	// A slot of the season as long as a few minutes of a day: means of fewer samples are noise.
	slot := blocks(season/288, step)
	named := []Named{{ARIMA, true, Config{
		Model: arima.Auto{MaxD: 1}, Block: blocks(minute, step), History: day,
	}}}
	if season%slot == 0 && season >= 2*slot {
		named = append(named, Named{HoltWinters, false, Config{
			Model: smoothing.HoltWinters{Period: int(season / slot), Trend: smoothing.DampedTrend},
			Block: slot, History: 7 * season,
		}})
	}
	for i := range named {
		c := &named[i].Config
		c.Step, c.Window = step, max(window, c.Block)
		c.History = max(c.History, c.Block)
		c.Refit = max(refit.Truncate(c.Block), c.Block)
	}
	return named
}

// blocks is the length nearest to a wanted one that is a whole number of steps, one at least.
func blocks(wanted, step time.Duration) time.Duration {
	return max(wanted.Round(step), step)
}
