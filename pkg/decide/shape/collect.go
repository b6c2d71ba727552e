package shape

import (
	"math"

	"github.com/forewarm/forewarm/forecast/quantreg"
)

// Collector gathers rows of one workload to fit a prior to: what was known, and the maximum that came, both divided by
// the level of the demand then.
type Collector struct {
	features *Features
	pending  pending
	levels   []float64
	every    int
	steps    int
	rows     quantreg.Rows
}

// NewCollector takes a row every so many steps.
func NewCollector(c Config, every int) *Collector {
	f := NewFeatures(c)
	every = max(1, every)
	return &Collector{features: f, every: every, pending: newPending(f.window/every+2, len(f.row))}
}

// Push takes the demand of a step, NaN for a gap, and the models' maxima of the window ahead.
func (c *Collector) Push(demand float64, models []float64) {
	c.features.Push(demand, models)
	if row, ok := c.pending.due(c.steps); ok {
		level := c.levels[0]
		c.levels = c.levels[1:]
		if came := c.features.Came(); !math.IsNaN(came) && level > 0 {
			for _, v := range row {
				c.rows.X = append(c.rows.X, v/level)
			}
			c.rows.Y = append(c.rows.Y, came/level)
		}
	}
	if c.steps%c.every == 0 && !math.IsNaN(demand) {
		c.pending.add(c.steps+c.features.window, c.features.Row())
		c.levels = append(c.levels, c.features.Level())
	}
	c.steps++
}

// Columns are the names of the features.
func (c *Collector) Columns() []string { return c.features.Names() }

// Rows are those gathered so far.
func (c *Collector) Rows() quantreg.Rows { return c.rows }
