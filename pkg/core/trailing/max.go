package trailing

import "math"

// Max is the maximum of the newest values, in amortised constant time: a queue of those that are not yet overtaken by a
// newer and larger one (Lemire 2006).
type Max struct {
	window int
	seen   int
	// values and their positions, in a ring from head on; values fall.
	values    []float64
	positions []int
	head, len int
}

// NewMax is of so many values, 1 or more.
func NewMax(window int) *Max {
	return &Max{window: window, values: make([]float64, window), positions: make([]int, window)}
}

// Push takes the next value, NaN where it is missing, and returns Value.
func (m *Max) Push(v float64) float64 {
	if m.len > 0 && m.positions[m.head] <= m.seen-m.window {
		m.head = m.at(1)
		m.len--
	}
	if !math.IsNaN(v) {
		for m.len > 0 && m.values[m.at(m.len-1)] <= v {
			m.len--
		}
		end := m.at(m.len)
		m.values[end], m.positions[end] = v, m.seen
		m.len++
	}
	m.seen++
	return m.Value()
}

// Value is the maximum of the window; NaN where nothing in it is known.
func (m *Max) Value() float64 {
	if m.len == 0 {
		return math.NaN()
	}
	return m.values[m.head]
}

func (m *Max) at(i int) int { return (m.head + i) % m.window }

// Coarse is the maximum of a long window, of blocks: it forgets a block at a time, and needs a fraction of the memory.
type Coarse struct {
	blocks *Max
	every  int
	seen   int
	block  float64
	top    float64
}

// coarseBlocks is how many blocks a long window has.
const coarseBlocks = 288

// NewCoarse is of so many values, 1 or more.
func NewCoarse(window int) *Coarse {
	every := max(1, window/coarseBlocks)
	return &Coarse{blocks: NewMax(max(1, window/every)), every: every, block: math.NaN(), top: math.NaN()}
}

// Push takes the next value, NaN where it is missing, and returns Value.
func (c *Coarse) Push(v float64) float64 {
	c.block = Most(c.block, v)
	c.seen++
	c.top = Most(c.blocks.Value(), c.block)
	if c.seen%c.every == 0 {
		c.blocks.Push(c.block)
		c.block = math.NaN()
	}
	return c.top
}

// Value is the maximum of the window; NaN where nothing in it is known.
func (c *Coarse) Value() float64 { return c.top }

// Most is the largest of the values that are known; NaN where none is.
func Most(values ...float64) float64 {
	out := math.NaN()
	for _, v := range values {
		if !(v <= out) && !math.IsNaN(v) {
			out = v
		}
	}
	return out
}
