package decompose

import "github.com/forewarm/forewarm/forecast"

// cycle is an effect that repeats, and where in it the next step lies. It is made of parts in turn, which may be the
// same: a week of five times one day and twice another takes the room of two days.
type cycle struct {
	parts    [][]float64
	part, at int
}

// next is the effect on the coming step.
func (c *cycle) next() float64 { return c.parts[c.part][c.at] }

func (c *cycle) advance() {
	c.at++
	if c.at < len(c.parts[c.part]) {
		return
	}
	c.at = 0
	c.part++
	if c.part == len(c.parts) {
		c.part = 0
	}
}

// addTo adds the effects on the coming steps to dst.
func (c *cycle) addTo(dst []float64) {
	part, at := c.part, c.at
	for len(dst) > 0 {
		effects := c.parts[part][at:]
		n := min(len(effects), len(dst))
		for i, effect := range effects[:n] {
			dst[i] += effect
		}
		dst, at = dst[n:], 0
		part = (part + 1) % len(c.parts)
	}
}

// shifted are marginals with an effect added to each step.
type shifted struct {
	forecast.Marginals
	by []float64
}

// Quantile is that of the marginals, shifted.
func (s shifted) Quantile(i int, p float64) float64 { return s.Marginals.Quantile(i, p) + s.by[i] }
