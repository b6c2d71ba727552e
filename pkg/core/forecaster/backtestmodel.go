package forecaster

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// BacktestModel is a Forecaster as a forecast.Model, to backtest what would be served. Its Fitted has the method
// MaxQuantile(h int, p float64) float64: the p-quantile of the highest value of the next h steps, NaN for an h that is not
// among the Horizons and until enough windows are observed.
type BacktestModel struct {
	// Config must be valid; its Models, Settings, Autoscalers and Horizons are ignored.
	Config Config
	// Candidate is the canonical name of a candidate, Model any other model; at most one is set, and is calibrated alone. If
	// none is set, the selected one of all candidates forecasts.
	Candidate string
	Model     forecast.Model
	// Horizons are the windows to calibrate, in steps, the Config's Window among them.
	Horizons []int
}

var _ forecast.Model = BacktestModel{}

// Name of the model or candidate.
func (m BacktestModel) Name() string {
	switch {
	case m.Model != nil:
		return m.Model.Name()
	case m.Candidate != "":
		return m.Candidate
	}
	return "Forewarm"
}

// Fit replays the series. Errors: the model's; forecast.ErrParameter for an unknown Candidate and for Horizons without the
// Window.
func (m BacktestModel) Fit(s forecast.Series) (forecast.Fitted, error) {
	own := m.Config.stepsIn(m.Config.Window)
	if !slices.Contains(m.Horizons, own) || slices.Min(m.Horizons) < 1 {
		return nil, fmt.Errorf("backtest model %s: horizons %v, want %d among them: %w",
			m.Name(), m.Horizons, own, forecast.ErrParameter)
	}
	if _, known := windowpeak.CanonicalName(m.Candidate); m.Candidate != "" && !known {
		return nil, fmt.Errorf("backtest model: unknown candidate %q, valid are %v: %w",
			m.Candidate, windowpeak.CandidateNames(), forecast.ErrParameter)
	}
	c := Config{Step: m.Config.Step, Window: m.Config.Window, Seasons: m.Config.Seasons, Rate: m.Config.Rate}
	for _, h := range m.Horizons {
		c.Horizons = append(c.Horizons, time.Duration(h)*c.Step)
	}
	out := &backtestFitted{name: m.Candidate}
	if m.Model != nil {
		out.name = m.Model.Name()
		c.extra = m.Model
	}
	if out.name != "" {
		c.Models = []string{out.name}
	}
	if out.name == windowpeak.Regression {
		c.Models = windowpeak.DefaultRegressionInputs()
	}
	out.f = New(c, History{Series: s})
	if candidate := out.candidate(); candidate != nil && candidate.Err() != nil {
		return nil, candidate.Err()
	}
	return out, nil
}

// backtestFitted forecasts by one candidate of a Forecaster; name is empty for the selected one.
type backtestFitted struct {
	f    *Forecaster
	name string
}

// candidate is the one that forecasts; nil before the first sample.
func (c *backtestFitted) candidate() *windowpeak.Candidate {
	if c.f.peaks == nil {
		return nil
	}
	at := c.f.peaks.Find(c.name)
	if c.name == "" {
		at = c.f.selection.byPinballLoss.Selected()
	}
	return c.f.peaks.Candidates[at]
}

// Update records the next sample.
func (c *backtestFitted) Update(y float64) { c.f.Step(demand.Reading{Demand: y}) }

// PointsTo writes the forecast's points to dst.
func (c *backtestFitted) PointsTo(dst []float64) { copy(dst, c.Forecast(len(dst)).Point) }

// Forecast is step by step, by the candidate or, if it has no steps, by the best that has. Only maxima are calibrated.
func (c *backtestFitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: c.f.ReadUntil(), Step: c.f.config.Step, Point: make([]float64, h), StdErr: make([]float64, h),
	}
	if candidate := c.candidate(); candidate != nil {
		by := c.f.stepForecaster(candidate).Forecast(h)
		copy(out.Point, by.Point)
		copy(out.StdErr, by.StdErr)
	}
	return out
}

// MaxQuantile is the p-quantile of the highest value of the next h steps.
func (c *backtestFitted) MaxQuantile(h int, p float64) float64 {
	candidate := c.candidate()
	if candidate == nil {
		return math.NaN()
	}
	return candidate.Quantile(h, p, c.f.bound)
}
