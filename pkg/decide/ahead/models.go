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
	Config
}

// Models are the forecasting models that are asked about a window of a demand with a season.
//
// Between fits a model's state moves on with every block, so that a fit a day is enough: the few coefficients of a demand
// hardly change.
func Models(step, window, season time.Duration) []Named {
	const day, minute = 24 * time.Hour, time.Minute
	// A slot of the season as long as a few minutes of a day: means of fewer samples are noise.
	slot := blocks(season/288, step)
	named := []Named{{ARIMA, Config{
		Model: arima.ARIMA{P: 2, D: 1, Q: 2}, Block: blocks(minute, step), History: day,
	}}}
	if season%slot == 0 && season >= 2*slot {
		named = append(named, Named{HoltWinters, Config{
			Model: smoothing.HoltWinters{Period: int(season / slot), Trend: smoothing.DampedTrend},
			Block: slot, History: 7 * season,
		}})
	}
	for i := range named {
		c := &named[i].Config
		c.Step, c.Window = step, max(window, c.Block)
		c.History = max(c.History, c.Block)
		c.Refit = max(day/c.Block*c.Block, c.Block)
	}
	return named
}

// blocks is the length nearest to a wanted one that is a whole number of steps, one at least.
func blocks(wanted, step time.Duration) time.Duration {
	return max(1, (wanted+step/2)/step) * step
}
