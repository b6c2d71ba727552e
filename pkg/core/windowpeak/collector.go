package windowpeak

import (
	"math"

	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/core/demand"
)

// Collector gathers rows of one workload to fit a prior to: features and the actual window peak, divided by the level of the
// demand at that time.
type Collector struct {
	// Rows gathered so far.
	Rows quantreg.Rows

	set     *CandidateSet
	pending pending
	levels  []float64
	every   int
	steps   int
}

// NewCollector takes a row every so many steps of a new set.
func NewCollector(set *CandidateSet, every int) *Collector {
	f := set.regression.features
	every = max(1, every)
	return &Collector{set: set, every: every, pending: newPending(f.window/every+2, len(f.row))}
}

// Step records the next step in the set, and its row.
func (c *Collector) Step(x demand.Sample) {
	c.set.Step(x)
	f := c.set.regression.features
	if row, ok := c.pending.due(c.steps); ok {
		level := c.levels[0]
		c.levels = c.levels[1:]
		if actual := f.actualPeak; !math.IsNaN(actual) && level > 0 {
			for _, v := range row {
				c.Rows.X = append(c.Rows.X, v/level)
			}
			c.Rows.Y = append(c.Rows.Y, actual/level)
		}
	}
	if c.steps%c.every == 0 && !math.IsNaN(x.Observed) {
		c.pending.add(c.steps+f.window, f.row)
		c.levels = append(c.levels, f.level.Value())
	}
	c.steps++
}
