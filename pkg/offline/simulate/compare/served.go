package compare

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Step is the server's refresh step.
const Step = 30 * time.Second

// forecasterConfig returns the configuration of the server. Its simulated autoscalers work as on the server. Their replicas have the
// simulated lead times, drawn separately, and sustain the autoscaler's target.
func (p *plan) forecasterConfig(objectives ...float64) forecaster.Config {
	scaling := decide.Autoscaler{Name: p.Autoscaler, HPA: p.spec(p.capacityTarget()).HPA}
	zeroBelow := 0.0
	if scaling.HPA.Cluster.ScaleToZero {
		zeroBelow = decide.ZeroBelow([]decide.Autoscaler{scaling})
		scaling.HPA.Min, scaling.HPA.Cluster.ScaleToZero = 1, false // As on the server.
	}
	out := forecaster.Config{
		// The seed differs from the seed of the playback, because no one knows how long the next start takes.
		Starts: p.leadWithNode().pods(), Seed: 1, DelaySteps: 1,
		Step: Step, Window: leadtime.Window(p.lookAhead()), Rate: true,
		Autoscalers: []decide.Autoscaler{scaling}, Priors: p.Priors, Adjust: event.Adjust(p.Events),
		Deadline: p.Deadline,
	}
	if p.recorded.Step > sync { // One bad sample affects the interpolation from the previous sample and to the next one.
		out.Lookback = 2 * p.recorded.Step
	}
	if p.Pool != nil {
		out.Horizons = []time.Duration{leadtime.Window(p.Lead.planned())}
	}
	for _, late := range objectives {
		out.ExtraSettings = append(out.ExtraSettings, decide.Settings{
			Late: late, BadHours: p.BadHours, Wait: p.Wait, Target: scaling.Target(),
			MaxCapacity: scaling.MaxCapacity(), ZeroBelow: zeroBelow, Lead: p.lookAhead(), Mode: decide.Floor,
		})
	}
	out.Settings, out.ExtraSettings = out.ExtraSettings[0], out.ExtraSettings[1:]
	return out
}

// playForecaster returns what Forewarm serves for several objectives, decided like on the server.
func (p *plan) playForecaster(objectives ...float64) (*servedRecorder, error) {
	return p.playRecorder(&servedRecorder{Forewarm: simulate.NewForewarm(p.forecasterConfig(objectives...))})
}

func (p *plan) playRecorder(r *servedRecorder) (*servedRecorder, error) {
	r.Defers(p.deferrable)
	r.keep = p.Pool != nil
	_, err := simulate.ServedValues(p.demand, Step, stoppable{p.done, r})
	return r, errors.Join(err, p.interrupted())
}

// servedRecorder records what Forewarm serves from one step to the next. The newest sample may still arrive while a step runs, so the
// server uses only the samples before it.
type servedRecorder struct {
	*simulate.Forewarm
	// values has the values for each objective, one for every sync.
	values [][]float64
	newest []float64
	// windows has the distributions of window peaks that were known at every step, if keep is true.
	windows [][]windowpeak.Window
	keep    bool
	// headrooms are constant multipliers. Their values are recorded after those of the objectives, for each of the first judged objectives.
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
	s.newest = append(s.newest[:0], served...)
	for i := range s.judged {
		for _, k := range s.headrooms {
			v := served[i]
			if c := s.calibrator(); c != nil && s.Forecaster().Decided() {
				v = max(decide.HeadroomValue(k, c.Inputs(i)), s.Forecaster().Minimum())
			}
			s.newest = append(s.newest, v)
		}
	}
	if s.keep {
		s.windows = append(s.windows, s.Forecaster().Windows())
	}
	return s.newest[0]
}

// calibrator returns Forewarm's calibrator; nil if there is none.
func (s *servedRecorder) calibrator() *objective.Calibrator {
	if f := s.Forecaster(); f != nil {
		return f.Calibrator()
	}
	return nil
}

// The models forecast blocks of the usual length from the last two weeks and are refitted every 6 hours. An ARIMA is fitted on one day,
// which is enough for its few parameters.
const (
	modelHistory, arimaHistory, refit = 14 * day, day, 6 * time.Hour

	holtWintersBlock, arimaBlock = 5 * time.Minute, time.Minute
)

// values returns what a policy serves over the history. If done is closed, it ends early with a result that is not used.
func (h *history) values(p simulate.Policy) ([]float64, error) {
	return simulate.ServedValues(h.total, sync, stoppable{h.done, p})
}

// stoppable does not call a policy any more once done is closed.
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

// forecastPolicy serves what a model forecasts for the window ahead, without the observed demand.
type forecastPolicy struct{ model *windowpeak.BlockModel }

// Serve is the forecast, NaN where there is none.
func (f forecastPolicy) Serve(o simulate.Observation) float64 { return f.model.Push(o.Arrived) }

// modelValues serves a model as people usually do: the highest forecast in the window, but at least the observed demand. The result is nil
// if the history is too short for a single fit.
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

// holtWinters returns a model with triple exponential smoothing and a daily season (Winters 1960).
func (c *Config) holtWinters() windowpeak.BlockModelConfig {
	return windowpeak.BlockModelConfig{
		Model: smoothing.HoltWinters{Period: int(day / holtWintersBlock), Trend: smoothing.DampedTrend}, Step: sync,
		Block: holtWintersBlock, Window: max(c.window(), holtWintersBlock), History: modelHistory, Refit: refit,
	}
}

// arima returns an ARIMA model with automatic order selection (Hyndman and Khandakar 2008).
func (c *Config) arima() windowpeak.BlockModelConfig {
	return windowpeak.BlockModelConfig{
		Model: arima.Auto{MaxD: 1},
		Step:  sync, Block: arimaBlock, Window: max(c.window(), arimaBlock), History: arimaHistory, Refit: refit,
	}
}
