package compare

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// The models forecast blocks of a usual length from the last two weeks, refitted every 6 hours. An ARIMA is fitted on
// a day, which is enough for its few parameters.
const (
	modelHistory, arimaHistory, refit = 14 * day, day, 6 * time.Hour

	holtWintersBlock, arimaBlock = 5 * time.Minute, time.Minute
)

// values are what a policy serves over the history. It ends early, with what is of no use, where it is done.
func (h *history) values(p simulate.Policy) ([]float64, error) {
	return simulate.ServedValues(h.total, sync, stoppable{h.done, p})
}

// stoppable asks a policy no more once it is done.
type stoppable struct {
	done   <-chan struct{}
	policy simulate.Policy
}

// Serve is the policy's value, NaN once it is done.
func (s stoppable) Serve(o simulate.Observation) float64 {
	select {
	case <-s.done:
		return math.NaN()
	default:
		return s.policy.Serve(o)
	}
}

// forecastPolicy serves what a model forecasts for the window ahead, and not what is observed.
type forecastPolicy struct{ model *windowpeak.BlockModel }

// Serve is the forecast, NaN where there is none.
func (f forecastPolicy) Serve(o simulate.Observation) float64 { return f.model.Push(o.Arrived) }

// modelValues is a model as people serve one: the highest forecast for the window, and never less than is observed. Nil where the
// history was too short for a single fit.
func (h *history) modelValues(c windowpeak.BlockModelConfig) ([]float64, error) {
	model, err := windowpeak.NewBlockModel(c)
	if err != nil {
		return nil, err
	}
	forecasts, err := h.values(forecastPolicy{model})
	if err != nil {
		return nil, err
	}
	observed, err := h.values(simulate.NewObserved())
	if err != nil {
		return nil, err
	}
	fitted := false
	for i, v := range forecasts {
		fitted = fitted || !math.IsNaN(v)
		observed[i] = series.MaxKnown(observed[i], v)
	}
	if !fitted {
		return nil, nil
	}
	return observed, nil
}

// holtWinters forecasts by triple exponential smoothing of a day (Winters 1960).
func (c *Config) holtWinters() windowpeak.BlockModelConfig {
	return windowpeak.BlockModelConfig{
		Model: smoothing.HoltWinters{Period: int(day / holtWintersBlock), Trend: smoothing.DampedTrend}, Step: sync,
		Block: holtWintersBlock, Window: max(c.window(), holtWintersBlock), History: modelHistory, Refit: refit,
	}
}

// arima forecasts by an ARIMA whose order is searched for (Hyndman and Khandakar 2008).
func (c *Config) arima() windowpeak.BlockModelConfig {
	return windowpeak.BlockModelConfig{
		Model: arima.Auto{MaxD: 1},
		Step:  sync, Block: arimaBlock, Window: max(c.window(), arimaBlock), History: arimaHistory, Refit: refit,
	}
}
