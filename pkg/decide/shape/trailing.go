package shape

import (
	"math"
	"time"
)

// highest is the maximum of a sliding window, in constant time a step: a queue of those that may yet be it (Lemire 2006).
type highest struct {
	window int
	// values and births are a ring of candidates, descending in value.
	values      []float64
	births      []int
	first, size int
	now         int
}

func newHighest(window int) *highest {
	return &highest{window: window, values: make([]float64, window+1), births: make([]int, window+1)}
}

// push takes the next value, which counts for so many pushes as the window has. NaN passes by.
func (h *highest) push(v float64) {
	h.now++
	for h.size > 0 && h.births[h.first] <= h.now-h.window {
		h.first = h.at(1)
		h.size--
	}
	if !math.IsNaN(v) {
		for h.size > 0 && h.values[h.at(h.size-1)] <= v {
			h.size--
		}
		h.values[h.at(h.size)], h.births[h.at(h.size)] = v, h.now
		h.size++
	}
}

// max is NaN where the window holds nothing.
func (h *highest) max() float64 {
	if h.size == 0 {
		return math.NaN()
	}
	return h.values[h.first]
}

func (h *highest) at(i int) int { return (h.first + i) % len(h.values) }

// coarse is the maximum of a long sliding window, of blocks: it forgets a block at a time, and needs a fraction of the
// memory.
type coarse struct {
	blocks *highest
	every  int
	seen   int
	block  float64
	top    float64
}

const coarseBlocks = 288

func newCoarse(window int) *coarse {
	every := max(1, window/coarseBlocks)
	return &coarse{blocks: newHighest(max(1, window/every)), every: every, block: math.NaN(), top: math.NaN()}
}

func (c *coarse) push(v float64) {
	c.block = larger(c.block, v)
	c.seen++
	c.top = larger(c.blocks.max(), c.block)
	if c.seen%c.every == 0 {
		c.blocks.push(c.block)
		c.block = math.NaN()
	}
}

// max is NaN where the window holds nothing.
func (c *coarse) max() float64 { return c.top }

// larger of two, one of which may be missing.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// mean is an exponentially weighted mean without bias at its beginning.
type mean struct {
	keep        float64
	sum, weight float64
}

func newMean(tau, step time.Duration) mean {
	return mean{keep: 1 - math.Min(1, step.Seconds()/tau.Seconds())}
}

func (m *mean) add(v float64) {
	m.sum = m.keep*m.sum + (1-m.keep)*v
	m.weight = m.keep*m.weight + (1 - m.keep)
}

// value is 0 before the first.
func (m *mean) value() float64 {
	if m.weight == 0 {
		return 0
	}
	return m.sum / m.weight
}

// past is a ring of the newest values.
type past struct {
	values []float64
	at     int
	seen   int
}

func newPast(n int) past { return past{values: make([]float64, n)} }

func (p *past) push(v float64) {
	p.values[p.at] = v
	p.at = (p.at + 1) % len(p.values)
	p.seen++
}

// ago is the value pushed n pushes before the newest, n < len(values), or the oldest there is; NaN where there is none.
func (p *past) ago(n int) float64 {
	if p.seen == 0 {
		return math.NaN()
	}
	n = min(n, p.seen-1)
	return p.values[((p.at-1-n)%len(p.values)+len(p.values))%len(p.values)]
}

// knows says whether a value n pushes before the newest was pushed.
func (p *past) knows(n int) bool { return n < p.seen && n < len(p.values) }
