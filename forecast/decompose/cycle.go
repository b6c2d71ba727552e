package decompose

import "github.com/forewarm/forewarm/forecast"

// cycle is an effect that repeats, and where in it the next step lies.
type cycle struct {
	values []float64
	at     int
}

// next is the effect on the coming step.
func (c *cycle) next() float64 { return c.values[c.at] }

func (c *cycle) advance() {
	c.at++
	if c.at == len(c.values) {
		c.at = 0
	}
}

// addTo adds the effects on the coming steps to dst.
func (c *cycle) addTo(dst []float64) {
	at := c.at
	for i := range dst {
		dst[i] += c.values[at]
		at++
		if at == len(c.values) {
			at = 0
		}
	}
}

// shifted are marginals with an effect added to each step.
type shifted struct {
	forecast.Marginals
	by []float64
}

// Quantile is that of the marginals, shifted.
func (s shifted) Quantile(i int, p float64) float64 { return s.Marginals.Quantile(i, p) + s.by[i] }
