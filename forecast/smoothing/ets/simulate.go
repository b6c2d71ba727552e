package ets

import (
	"math"
	"math/rand/v2"
	"slices"
)

// defaultPaths are drawn where a model has no analytic variance and none are asked for.
const defaultPaths = 2000

// paths are simulated futures: values[i] is what they reached at step i, in rising order.
type paths struct {
	values [][]float64
}

// Quantile is the p-quantile of step i, between the values that surround it.
func (p paths) Quantile(i int, q float64) float64 {
	values := p.values[i]
	at := min(max(q, 0), 1) * float64(len(values)-1)
	below := int(at)
	above := min(below+1, len(values)-1)
	return values[below] + (at-float64(below))*(values[above]-values[below])
}

// simulate draws the paths and writes the root mean square distance of each step's values from their mean.
func (f *Fitted) simulate(deviations []float64) paths {
	h, n := len(deviations), f.simulation.Paths
	out := paths{values: make([][]float64, h)}
	for i := range out.values {
		out.values[i] = make([]float64, n)
	}
	random := rand.New(rand.NewPCG(f.simulation.Seed, uint64(n)))
	before, missing := f.beforeGap()
	now := before
	now.season = slices.Clone(f.state.season)
	// What earlier gaps left unknown about the level.
	doubt := math.Sqrt(f.faded)
	for path := range n {
		now.level, now.trend, now.at = before.level, before.trend, before.at
		copy(now.season, f.state.season)
		if doubt > 0 {
			now.level += f.surprise(now.level, doubt*random.NormFloat64())
		}
		for i := range missing + h {
			mean := now.mean(f)
			y := mean + f.surprise(mean, random.NormFloat64())
			now.move(f, y)
			if i >= missing {
				out.values[i-missing][path] = y
			}
		}
	}
	for i, values := range out.values {
		slices.Sort(values)
		deviations[i] = deviation(values)
	}
	return out
}

// surprise is the error of z standard deviations at a mean.
func (f *Fitted) surprise(mean, z float64) float64 {
	if f.spec.Error == MultiplicativeError {
		return mean * f.deviation * z
	}
	return f.deviation * z
}

// mean is the coming step's.
func (s *state) mean(f *Fitted) float64 {
	base := s.level + f.parameters.Phi*s.trend
	if f.spec.Season == MultiplicativeSeason {
		return math.Max(base, f.floor) * s.season[s.at]
	}
	return base + s.season[s.at]
}

// deviation is the root mean square distance of the values from their mean, free of overflow.
func deviation(values []float64) float64 {
	unit := max(math.Abs(values[0]), math.Abs(values[len(values)-1]))
	if unit == 0 {
		return 0
	}
	centre := 0.0
	for i, v := range values {
		centre += (v/unit - centre) / float64(i+1)
	}
	sum := 0.0
	for _, v := range values {
		d := v/unit - centre
		sum += d * d
	}
	return unit * math.Sqrt(sum/float64(len(values)))
}
