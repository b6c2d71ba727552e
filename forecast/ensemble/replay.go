package ensemble

import (
	"iter"
	"math"
)

// seedWeight is for how many observed losses the mean loss over the whole of a replay counts at its beginning, at most.
const seedWeight = 48

// replay takes values as if they came one at a time, each forecast before it is seen, and yields at every origin, the
// first before any value has come. The members' forecasts do not depend on each other, so they are made first; how well
// each did over the whole replay then seeds its losses. Without that the weights would know nothing before the first
// forecasts fall due, and the errors of that ignorance would widen the quantiles.
func (c *Combination) replay(values []float64) iter.Seq[int] {
	return func(yield func(int) bool) {
		scripts := c.rehearse(values)
		for k, script := range scripts {
			c.seed(k, script, values)
		}
		c.weigh()
		for origin := range len(values) + 1 {
			if origin > 0 {
				c.observe(values[origin-1])
				c.resolve()
			}
			c.recite(scripts, origin)
			c.file()
			if !yield(origin) {
				return
			}
		}
	}
}

// replay calibrates on values that are replayed.
func (f *Fitted) replay(values []float64) {
	for origin := range f.points.replay(values) {
		if origin > 0 {
			f.take()
			f.resolve()
		}
		f.aim()
		f.file()
	}
}

// rehearse gives each member's script.
func (c *Combination) rehearse(values []float64) [][]float64 {
	scripts := make([][]float64, len(c.members))
	for k, m := range c.members {
		if m.median {
			scripts[k] = make([]float64, len(scripts[0]))
			medians(scripts[k], scripts[:k])
		} else {
			scripts[k] = m.rehearse(values)
		}
	}
	return scripts
}

// rehearse forecasts from every origin of the replay in turn and gives the paths, one after the other.
func (m *member) rehearse(values []float64) []float64 {
	script := make([]float64, 0, (len(values)+1)*len(m.path))
	m.updatePath()
	script = append(script, m.path...)
	for _, y := range values {
		m.advance(y)
		m.updatePath()
		script = append(script, m.path...)
	}
	return script
}

// seed gives member k the mean of its losses over the whole replay to begin with.
func (c *Combination) seed(k int, script, values []float64) {
	for j, h := range c.anchors {
		sum, n := 0.0, 0.0
		for origin := 0; origin+h <= len(values); origin++ {
			if e := math.Abs(values[origin+h-1] - script[origin*c.horizon+h-1]); !math.IsNaN(e) {
				n++
				sum += (e - sum) / n
			}
		}
		if n > 0 {
			weight := min(seedWeight, n)
			c.losses[j][k] = record{sum: weight * sum, weight: weight}
		}
	}
}

// recite lets the members look from an origin of the replay.
func (c *Combination) recite(scripts [][]float64, origin int) {
	for k, m := range c.members {
		copy(m.path, scripts[k][origin*c.horizon:])
	}
	c.updatePath()
}
