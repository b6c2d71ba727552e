package forecaster

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/classify"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Calibrated is a Forecaster as a model: to judge in a backtest what would be served. What it fits has the method
// MaxQuantile(h int, p float64) float64, the p-quantile of the highest value of the next h steps, which is NaN for an h that
// is not among the Horizons and until enough windows have been seen.
type Calibrated struct {
	// Config must be valid; its Models, Policy, Scalings and Horizons play no part.
	Config Config
	// Candidate is the canonical name of one of the Forecaster's, Model any other model; one of the two is calibrated by
	// itself. Neither means all candidates, of which the one speaks that would serve.
	Candidate string
	Model     forecast.Model
	// Horizons are the windows that are calibrated, in steps, the Config's own Window among them.
	Horizons []int
}

var _ forecast.Model = Calibrated{}

// Name is the model's.
func (m Calibrated) Name() string {
	switch {
	case m.Model != nil:
		return m.Model.Name()
	case m.Candidate != "":
		return m.Candidate
	}
	return "Forewarm"
}

// Fit steps through the series. Errors: the model's; forecast.ErrParameter for a Candidate that there is not, and Horizons
// without the Window.
func (m Calibrated) Fit(s forecast.Series) (forecast.Fitted, error) {
	own := m.Config.stepsIn(m.Config.Window)
	if !slices.Contains(m.Horizons, own) || slices.Min(m.Horizons) < 1 {
		return nil, fmt.Errorf("calibrated %s: horizons %v, want %d among them: %w",
			m.Name(), m.Horizons, own, forecast.ErrParameter)
	}
	if _, known := windowpeak.Canonical(m.Candidate); m.Candidate != "" && !known {
		return nil, fmt.Errorf("calibrated: no candidate %q, valid are %v: %w",
			m.Candidate, windowpeak.Names(), forecast.ErrParameter)
	}
	c := Config{Step: m.Config.Step, Window: m.Config.Window, Seasons: m.Config.Seasons, Rate: m.Config.Rate}
	for _, h := range m.Horizons {
		c.Horizons = append(c.Horizons, time.Duration(h)*c.Step)
	}
	out := &calibrated{speaker: m.Candidate}
	if m.Model != nil {
		out.speaker = m.Model.Name()
		c.extra = m.Model
	}
	if out.speaker != "" {
		c.Models = []string{out.speaker}
	}
	if out.speaker == windowpeak.Regression {
		c.Models = windowpeak.Read()
	}
	out.f = New(c, History{Series: s})
	if candidate := out.candidate(); candidate != nil && candidate.Err() != nil {
		return nil, candidate.Err()
	}
	return out, nil
}

// calibrated is a Forecaster of which one candidate speaks.
type calibrated struct {
	f       *Forecaster
	speaker string
}

// candidate is the one that speaks: the first one until any does, nil before the first sample.
func (c *calibrated) candidate() *windowpeak.Candidate {
	if c.f.peaks == nil {
		return nil
	}
	at := c.f.peaks.Find(c.speaker)
	if c.speaker == "" {
		at = c.f.selection.gate.Serving()
	}
	return c.f.peaks.Candidates()[at]
}

// Update takes the next sample.
func (c *calibrated) Update(y float64) { c.f.Step(classify.Reading{Demand: y}) }

// PointsTo are those of the candidate or, where it knows no steps, those of the best that does.
func (c *calibrated) PointsTo(dst []float64) { copy(dst, c.Forecast(len(dst)).Point) }

// Forecast is step by step; only maxima are calibrated.
func (c *calibrated) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: c.f.Read(), Step: c.f.config.Step, Point: make([]float64, h), StdErr: make([]float64, h),
	}
	if candidate := c.candidate(); candidate != nil {
		by := c.f.stepper(candidate).Forecast(h)
		copy(out.Point, by.Point)
		copy(out.StdErr, by.StdErr)
	}
	return out
}

// MaxQuantile is the p-quantile of the highest value of the next h steps.
func (c *calibrated) MaxQuantile(h int, p float64) float64 {
	candidate := c.candidate()
	if candidate == nil {
		return math.NaN()
	}
	return candidate.Quantile(h, p, c.f.bound)
}
