package windowpeak

import (
	"math"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// coarseMax is the maximum of a long window, in blocks: it drops a block at a time, and needs a fraction of the memory.
type coarseMax struct {
	blocks *series.TrailingMax
	every  int
	seen   int
	block  float64
	top    float64
}

// coarseBlocks is the number of blocks of a long window.
const coarseBlocks = 288

// newCoarseMax returns the maximum of so many values, 1 or more.
func newCoarseMax(window int) *coarseMax {
	every := max(1, window/coarseBlocks)
	return &coarseMax{
		blocks: series.NewTrailingMax(max(1, window/every)),
		every:  every,
		block:  math.NaN(),
		top:    math.NaN(),
	}
}

// push takes the next value, NaN where it is missing, and returns value.
func (c *coarseMax) push(v float64) float64 {
	c.block = series.MaxKnown(c.block, v)
	c.seen++
	c.top = series.MaxKnown(c.blocks.Value(), c.block)
	if c.seen%c.every == 0 {
		c.blocks.Push(c.block)
		c.block = math.NaN()
	}
	return c.top
}

// value is the maximum of the window; NaN where nothing in it is known.
func (c *coarseMax) value() float64 { return c.top }
