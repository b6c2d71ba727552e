package forecaster

import (
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/credible"
	"github.com/forewarm/forewarm/pkg/repair"
)

// Calibrated is a model with the maxima that it forecasts calibrated as a Forecaster's candidates are: to judge in a
// backtest what would be served of it. What it fits has the method MaxQuantile(h int, p float64) float64, the p-quantile
// of the highest value of the next h steps, which is NaN for an h that is not among the Horizons and until enough windows
// have been seen.
type Calibrated struct {
	// Config must be valid; its Models, Policy and Scalings play no part.
	Config Config
	// Candidate is the canonical name of one of the Forecaster's, Model any other model; one of the two is calibrated by
	// itself. Neither means all candidates, of which the one speaks that would serve.
	Candidate string
	Model     forecast.Model
	// Horizons are the windows that are calibrated, in steps, ascending, the Config's own Window among them.
	Horizons []int
}

var _ forecast.Model = Calibrated{}

// Name is the model's.
func (m Calibrated) Name() string {
	candidates := m.candidates()
	if len(candidates) != 1 {
		return "Forewarm"
	}
	return candidates[0].model(m.Config).Name()
}

// candidates are those that take part, none where there is none of the name.
func (m Calibrated) candidates() []blueprint {
	if m.Model != nil {
		return []blueprint{{name: m.Model.Name(), model: func(Config) forecast.Model { return m.Model }}}
	}
	return slices.DeleteFunc(blueprints(), func(b blueprint) bool {
		return m.Candidate != "" && b.name != m.Candidate
	})
}

// Fit fits the model on the first part of the series and replays the rest. Errors: the model's; forecast.ErrParameter
// for Horizons that are not as wanted, and a Candidate that there is not.
func (m Calibrated) Fit(s forecast.Series) (forecast.Fitted, error) {
	own := m.Config.stepsIn(m.Config.Window)
	if !slices.IsSorted(m.Horizons) || !slices.Contains(m.Horizons, own) || m.Horizons[0] < 1 {
		return nil, fmt.Errorf("calibrated %s: horizons %v, want them ascending and %d among them: %w",
			m.Name(), m.Horizons, own, forecast.ErrParameter)
	}
	candidates := m.candidates()
	if len(candidates) == 0 {
		return nil, fmt.Errorf(
			"calibrated: no candidate %q, valid are %v: %w",
			m.Candidate,
			Names(),
			forecast.ErrParameter,
		)
	}
	config := Config{Step: m.Config.Step, Window: m.Config.Window, Seasons: m.Config.Seasons, Rate: m.Config.Rate}
	of := config.Credible(0)
	of.Windows, of.Lead = m.Horizons, slices.Index(m.Horizons, own)
	out := calibrated{filter: credible.NewFilter(of)}
	known := repair.Series{Series: forecast.Series{Start: s.Start, Step: s.Step}}
	for _, v := range s.Values {
		for _, passed := range out.filter.Step(v) {
			sample := judged(passed)
			known.Values = append(known.Values, sample.Value)
			known.Causes, known.Bounds = append(known.Causes, sample.Cause), append(known.Bounds, sample.Bound)
		}
	}
	out.f = begin(config, m.Horizons, candidates, known)
	if err := out.f.members[0].err; err != nil {
		return nil, err
	}
	return out, nil
}

// judged is what a sample is worth of which it is known whether it is credible.
func judged(s credible.Sample) repair.Sample {
	out := repair.Plain(s.Demand)
	if s.Suspect {
		out = repair.Sample{Value: math.NaN(), Cause: repair.Suspect}
	}
	out.Bound = s.Bound
	return out
}

// calibrated is a Forecaster whose candidates speak at the horizons that are asked for.
type calibrated struct {
	f      *Forecaster
	filter *credible.Filter
}

// speaker is the candidate that serves, the first one until any does.
func (c calibrated) speaker() *member { return c.f.members[max(c.f.gate.serving, 0)] }

// Update takes the next sample.
func (c calibrated) Update(y float64) {
	for _, s := range c.filter.Step(y) {
		c.f.Step(judged(s))
	}
}

// PointsTo are the model's own.
func (c calibrated) PointsTo(dst []float64) { c.speaker().fitted.PointsTo(dst) }

// Forecast is the model's own, step by step; only maxima are calibrated.
func (c calibrated) Forecast(h int) forecast.Forecast { return c.speaker().fitted.Forecast(h) }

// MaxQuantile is the p-quantile of the highest value of the next h steps.
func (c calibrated) MaxQuantile(h int, p float64) float64 {
	view := slices.Index(c.f.horizons, h)
	if view < 0 {
		return math.NaN()
	}
	return c.speaker().quantile(view, p, c.f.demand.scale(), c.f.bound)
}
