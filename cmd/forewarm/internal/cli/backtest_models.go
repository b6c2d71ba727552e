package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Models that are not in the server's catalogue.
const (
	// forewarm is the server's selection among all candidates.
	forewarm = "forewarm"
	// mstl is an ARIMA of the seasonally adjusted demand.
	mstl = "mstl"
)

// backtestEntry is a model by the name it has on the command line.
type backtestEntry struct {
	name string
	// baseline costs nothing: no model that is worse is worth fitting.
	baseline bool
}

// baselines are the models that all others are compared with, in the order of equal ones.
func baselines() []string {
	return []string{windowpeak.LastValue, windowpeak.LastSeason, windowpeak.RunningMax}
}

// modelNames are the models that may be chosen.
func modelNames() []string {
	out := []string{forewarm, mstl}
	for _, name := range windowpeak.CandidateNames() {
		if !slices.Contains(baselines(), name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// defaultModels are judged if none are named.
func defaultModels() []string {
	return []string{forewarm, windowpeak.HoltWinters, windowpeak.ARIMA, windowpeak.Auto, mstl}
}

// checkModel reports a model that cannot be chosen, and what to choose.
func checkModel(name string) error {
	if _, ok := parseModel(name); ok {
		return nil
	}
	if strings.EqualFold(name, "ets") {
		return fmt.Errorf(
			"--model ets no longer exists: choose %s or %s for a series with a season, %s for one without",
			windowpeak.Auto,
			windowpeak.HoltWinters,
			windowpeak.Holt,
		)
	}
	return fmt.Errorf("--model %.64q is unknown, choose from %s", name, strings.Join(modelNames(), ", "))
}

// parseModel is a model that may be chosen, however its name is spelled.
func parseModel(name string) (string, bool) {
	if canonical, ok := windowpeak.CanonicalName(name); ok {
		return canonical, !slices.Contains(baselines(), canonical)
	}
	name = strings.ToLower(name)
	return name, slices.Contains(modelNames(), name)
}

// selectedModels are the models to judge, the free ones last.
func (o *backtestOptions) selectedModels() []backtestEntry {
	names := defaultModels()
	if len(o.models) > 0 {
		names = nil
		for _, model := range o.models {
			if name, ok := parseModel(model); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	var out []backtestEntry
	for _, name := range append(names, baselines()...) {
		out = append(out, backtestEntry{name: name, baseline: slices.Contains(baselines(), name)})
	}
	return out
}

// model makes a model for a plan's series, calibrated as the server does it.
func (e backtestEntry) model(p plan) forecaster.BacktestModel {
	out := forecaster.BacktestModel{Config: p.config(), Horizons: p.horizons}
	switch e.name {
	case forewarm: // All of them.
	case mstl:
		out.Model = decompose.Seasonal{Periods: p.periods(), Model: arima.Auto{}}
	default:
		out.Candidate = e.name
	}
	return out
}

// continuedModel keeps a model's state from one stretch of origins to the next, as the server does.
type continuedModel struct {
	forecaster.BacktestModel
	maximaForecast

	seen time.Time // the end of what it was given
	err  error     // why it could not begin
}

// maximaForecast is what a Calibrated fits.
type maximaForecast interface {
	forecast.Fitted
	MaxQuantile(h int, p float64) float64
}

// Name is the model's.
func (c *continuedModel) Name() string { return c.BacktestModel.Name() }

// Fit steps through what is new of a series; the first time that is all of it.
func (c *continuedModel) Fit(s forecast.Series) (forecast.Fitted, error) {
	if c.maximaForecast == nil && c.err == nil {
		c.err = c.begin(s)
	}
	if c.err != nil {
		return nil, c.err
	}
	for i := int(c.seen.Sub(s.Start) / s.Step); i < s.Len(); i++ {
		c.Update(s.Values[i])
	}
	return c, nil
}

// begin fits the model for the only time.
func (c *continuedModel) begin(s forecast.Series) error {
	fitted, err := c.BacktestModel.Fit(s)
	if err != nil {
		return err
	}
	var knows bool
	if c.maximaForecast, knows = fitted.(maximaForecast); !knows {
		return fmt.Errorf("%s knows no highest values: %T", c.Name(), fitted)
	}
	c.seen = s.End()
	return nil
}

// Update takes the next value.
func (c *continuedModel) Update(y float64) {
	c.maximaForecast.Update(y)
	c.seen = c.seen.Add(c.Config.Step)
}
