package cli

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
)

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
