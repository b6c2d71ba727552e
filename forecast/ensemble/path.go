package ensemble

import (
	"math"

	"github.com/forewarm/forewarm/forecast"
)

// updatePath combines the members' paths.
func (c *Combination) updatePath() {
	for i := range c.path {
		c.path[i] = c.blended(i)
	}
}

// blended is the members' mean of step i, by their weights; where no member has a forecast it is the last value.
func (c *Combination) blended(i int) float64 {
	sum, total := 0.0, 0.0
	for k, w := range c.weights[c.anchor[i]] {
		if v := c.members[k].path[i]; w > 0 && !math.IsNaN(v) {
			sum += w * c.reach(v)
			total += w
		}
	}
	if total == 0 {
		return floor(c.last, c.signed)
	}
	return floor(sum/total, c.signed)
}

// farthest is how many times the largest magnitude that was seen a member may forecast: beyond it lies the
// extrapolation of an exponential.
const farthest = 3

// reach holds a member's forecast within what could be.
func (c *Combination) reach(v float64) float64 {
	return max(min(v, farthest*c.largest), -farthest*c.largest)
}

// floor keeps a forecast from going below 0 where the series never was.
func floor(v float64, signed bool) float64 {
	if signed {
		return v
	}
	return math.Max(v, 0)
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst. Beyond the horizon the weights are those of
// its last step; the first time that dst is so long it allocates room to work in.
func (c *Combination) PointsTo(dst []float64) {
	served := copy(dst, c.path)
	if served == len(dst) {
		return
	}
	if len(c.long) < len(dst) {
		c.long = make([]float64, len(dst))
	}
	beyond, path := dst[served:], c.long[:len(dst)]
	clear(beyond)
	total := 0.0
	for k, w := range c.weights[len(c.anchors)-1] {
		if m := c.members[k]; w > 0 && m.fitted != nil {
			m.fitted.PointsTo(path)
			for i := range beyond {
				beyond[i] += w * c.reach(path[served+i])
			}
			total += w
		}
	}
	for i := range beyond {
		if total > 0 {
			beyond[i] = floor(beyond[i]/total, c.signed)
		} else {
			beyond[i] = c.path[served-1]
		}
	}
}

// Forecast is the forecast of the coming h steps; standard errors are the members' own, by their weights.
func (c *Combination) Forecast(h int) forecast.Forecast {
	h = max(h, 0)
	out := forecast.Forecast{Start: c.next, Step: c.step, Point: make([]float64, h), StdErr: c.deviations(h)}
	c.PointsTo(out.Point)
	return out
}

// deviations are the members' standard errors of the coming h steps, by their weights at the nearest anchor.
func (c *Combination) deviations(h int) []float64 {
	out := make([]float64, h)
	totals := make([]float64, h)
	for k, m := range c.members {
		if m.fitted == nil {
			continue
		}
		for i, d := range m.fitted.Forecast(h).StdErr {
			w := c.weights[c.anchor[min(i, c.horizon-1)]][k]
			out[i] += w * d
			totals[i] += w
		}
	}
	for i, total := range totals {
		if total > 0 {
			out[i] /= total
		}
	}
	return out
}
