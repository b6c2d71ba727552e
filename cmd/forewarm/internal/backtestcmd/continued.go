package backtestcmd

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
)

// continued leads a model on from one stretch of origins to the next, as the server does: what it learnt stays.
type continued struct {
	forecaster.Calibrated
	maxima

	seen time.Time // the end of what it was given
	err  error     // why it could not begin
}

// maxima is what a Calibrated fits.
type maxima interface {
	forecast.Fitted
	MaxQuantile(h int, p float64) float64
}

// Name is the model's.
func (c *continued) Name() string { return c.Calibrated.Name() }

// Fit steps through what is new of a series; the first time that is all of it.
func (c *continued) Fit(s forecast.Series) (forecast.Fitted, error) {
	if c.maxima == nil && c.err == nil {
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
func (c *continued) begin(s forecast.Series) error {
	fitted, err := c.Calibrated.Fit(s)
	if err != nil {
		return err
	}
	var knows bool
	if c.maxima, knows = fitted.(maxima); !knows {
		return fmt.Errorf("%s knows no highest values: %T", c.Name(), fitted)
	}
	c.seen = s.End()
	return nil
}

// Update takes the next value.
func (c *continued) Update(y float64) {
	c.maxima.Update(y)
	c.seen = c.seen.Add(c.Config.Step)
}
