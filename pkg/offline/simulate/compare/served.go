package compare

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Step is the server's refresh step.
const Step = 30 * time.Second

// lookback is how long one bad sample stands in the demand on the grid: a coarser one is laid there by lines from the sample
// before and to the sample after it.
func (h *history) lookback() time.Duration {
	if h.recorded.Step <= sync {
		return 0
	}
	return 2 * h.recorded.Step
}

// forewarmServed is what Forewarm serves for some objectives, and its report at the end of the first.
type forewarmServed struct {
	// values of each objective, one at every sync.
	values    [][]float64
	objective *objective.Report
	// windows are the distributions of window peaks that were known at every step.
	windows [][]windowpeak.Window
}

// forecasterConfig is the server's. Its simulated autoscalers are as the server's: replicas take the lead times that are played, in
// draws of their own, and sustain the autoscaler's target.
func (h *history) forecasterConfig(c *Config, horizons []time.Duration, objectives ...float64) forecaster.Config {
	scaling := decide.Autoscaler{Name: c.Autoscaler, HPA: c.spec(c.capacityTarget()).HPA}
	out := forecaster.Config{
		// The seed is not that of what is played: nobody knows how long the next start takes.
		Starts: c.starts(), Seed: 1, DelaySteps: 1,
		Step: Step, Window: leadtime.Window(c.lookAhead()), Rate: true, Lookback: h.lookback(), Horizons: horizons,
		Autoscalers: []decide.Autoscaler{scaling}, Priors: c.Priors, Events: c.Events, Deadline: c.Deadline,
	}
	for _, late := range objectives {
		out.ExtraSettings = append(out.ExtraSettings, decide.Settings{
			Late:        late,
			BadHours:    c.BadHours,
			Wait:        c.Wait,
			Target:      scaling.Target(),
			MaxCapacity: scaling.MaxCapacity(),
			Lead:        c.lookAhead(),
			Mode:        decide.Floor,
		})
	}
	out.Settings, out.ExtraSettings = out.ExtraSettings[0], out.ExtraSettings[1:]
	return out
}

// playForecaster is what forewarm serves for some objectives at once, as the server decides it. The windows are kept where horizons
// are asked for beside the usual.
func (h *history) playForecaster(c *Config, horizons []time.Duration, objectives ...float64) (forewarmServed, error) {
	return h.playRecorder(h.recorder(c, horizons, objectives...))
}

func (h *history) recorder(c *Config, horizons []time.Duration, objectives ...float64) *servedRecorder {
	out := &servedRecorder{
		Forewarm: simulate.NewForewarm(h.forecasterConfig(c, horizons, objectives...)), keep: len(horizons) > 0,
	}
	out.Defers(h.deferrable)
	return out
}

func (h *history) playRecorder(p *servedRecorder) (forewarmServed, error) {
	if _, err := simulate.ServedValues(h.demand, Step, stoppable{h.done, p}); err != nil {
		return forewarmServed{}, err
	}
	if f := p.Forecaster(); f != nil && f.Calibrator() != nil {
		p.forewarmServed.objective = f.Calibrator().Report()
	}
	return p.forewarmServed, nil
}

// servedRecorder records what Forewarm serves from one step to the next. The newest sample may still arrive while a
// step runs: the server uses those before it.
type servedRecorder struct {
	*simulate.Forewarm
	forewarmServed
	newest []float64
	keep   bool
	// headrooms are constant multipliers whose values are recorded behind those of the objectives, for each of the first judged.
	headrooms []float64
	judged    int
}

// Serve is the value of the first objective.
func (s *servedRecorder) Serve(o simulate.Observation) float64 {
	served := s.ServeAll(o)
	if s.values == nil {
		s.values = make([][]float64, len(served)+s.judged*len(s.headrooms))
		s.newest = slices.Repeat([]float64{math.NaN()}, len(s.values))
	}
	for i, v := range s.newest {
		for range int(Step / sync) {
			s.values[i] = append(s.values[i], v)
		}
	}
	s.newest = s.constantValues(append(s.newest[:0], served...), served)
	if s.keep {
		s.windows = append(s.windows, s.Forecaster().Windows())
	}
	return s.newest[0]
}

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
