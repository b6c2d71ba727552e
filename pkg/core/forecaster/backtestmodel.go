package forecaster

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// BacktestModel is a Forecaster as a forecast.Model, to backtest what would be served. Its Fitted has the method MaxQuantile(h int, p
// float64) float64: the p-quantile of the highest value of the next h steps. It is NaN if h is not among the Horizons, and until enough
// windows have been observed.
type BacktestModel struct {
	// Config must be valid; its Models, Settings, Autoscalers and Horizons are ignored.
	Config Config
	// Candidate is the canonical name of the candidate that forecasts. If it is empty, the selected candidate forecasts.
	Candidate string
	// Horizons are the windows to calibrate, in steps. They must include the Config's Window.
	Horizons []int
}

var _ forecast.Model = BacktestModel{}

// Name returns the name of the candidate.
func (m BacktestModel) Name() string { return cmp.Or(m.Candidate, "Forewarm") }

// Fit replays the series. It returns the candidate's error, or forecast.ErrParameter if the Candidate is unknown, if it repeats a season
// that is not a whole number of steps, or if the Horizons do not include the Window.
func (m BacktestModel) Fit(s forecast.Series) (forecast.Fitted, error) {
	own := m.Config.stepsIn(m.Config.Window)
	if !slices.Contains(m.Horizons, own) || slices.Min(m.Horizons) < 1 {
		return nil, fmt.Errorf("backtest model %s: horizons %v, expected %d among them: %w",
			m.Name(), m.Horizons, own, forecast.ErrParameter)
	}
	if _, known := windowpeak.CanonicalName(m.Candidate); m.Candidate != "" && !known {
		return nil, fmt.Errorf("backtest model: unknown candidate %q, valid names are %v: %w",
			m.Candidate, windowpeak.CandidateNames(), forecast.ErrParameter)
	}
	c := Config{Step: m.Config.Step, Window: m.Config.Window, Seasons: m.Config.Seasons, Rate: m.Config.Rate}
	for _, h := range m.Horizons {
		c.Horizons = append(c.Horizons, time.Duration(h)*c.Step)
	}
	if m.Candidate != "" {
		c.Models = []string{m.Candidate}
	}
	if m.Candidate == windowpeak.Regression {
		c.Models = windowpeak.DefaultRegressionInputs()
	}
	out := &backtestFitted{f: New(c, History{Series: s}), name: m.Candidate}
	if out.f.peaks == nil {
		return out, nil
	}
	candidate := out.candidate()
	if candidate == nil {
		return nil, fmt.Errorf("backtest model %s: the season is not a whole number of steps of %s: %w",
			m.Name(), c.Step, forecast.ErrParameter)
	}
	if err := candidate.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// backtestFitted forecasts with one candidate of a Forecaster. name is empty for the selected candidate.
type backtestFitted struct {
	f    *Forecaster
	name string
}

// candidate returns the candidate that forecasts; nil before the first sample, and if no candidate has the name.
func (c *backtestFitted) candidate() *windowpeak.Candidate {
	switch {
	case c.f.peaks == nil:
		return nil
	case c.name == "":
		return c.f.peaks.Candidates[c.f.selection.byPinballLoss.Selected()]
	}
	at := c.f.peaks.Find(c.name)
	if at < 0 {
		return nil
	}
	return c.f.peaks.Candidates[at]
}

// Update records the next sample.
func (c *backtestFitted) Update(y float64) { c.f.Step(demand.Reading{Demand: y}) }

// PointsTo writes the forecast's points to dst.
func (c *backtestFitted) PointsTo(dst []float64) { copy(dst, c.Forecast(len(dst)).Point) }

// Forecast returns the step-by-step forecast of the candidate. If the candidate does not forecast steps, it is the forecast of the best
// candidate that does; NaN if there is none. Only the quantiles of maxima are calibrated.
func (c *backtestFitted) Forecast(h int) forecast.Forecast {
	var out forecast.Forecast
	if candidate := c.candidate(); candidate != nil {
		out = c.f.stepForecaster(candidate).Forecast(h)
	}
	if len(out.Point) == 0 {
		unknown := slices.Repeat([]float64{math.NaN()}, h)
		out.Point, out.StdErr = unknown, slices.Clone(unknown)
	}
	out.Start, out.Step = c.f.ReadUntil(), c.f.config.Step
	return out
}

// MaxQuantile returns the p-quantile of the highest value of the next h steps. If the selected candidate forecasts only the lead window,
// the best candidate that forecasts steps provides the other windows, as in Windows.
func (c *backtestFitted) MaxQuantile(h int, p float64) float64 {
	candidate := c.candidate()
	if candidate == nil {
		return math.NaN()
	}
	if c.name == "" && h != c.f.config.stepsIn(c.f.config.Window) {
		candidate = c.f.stepForecaster(candidate)
	}
	return candidate.Quantile(h, p, c.f.bound)
}
