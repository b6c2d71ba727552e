package ensemble

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
)

// QuantileTo writes the p-quantile of each of the coming len(dst) steps to dst, 0 < p < 1. No allocation. It does not
// decrease in p. Steps beyond the horizon have the quantile of its last step; Forecast widens them.
func (f *Fitted) QuantileTo(dst []float64, p float64) {
	c, j, spread, shape := f.points, -1, 0.0, f.values[0].shape(p)
	for i := range dst {
		if i >= c.horizon {
			dst[i] = dst[i-1]
			continue
		}
		if c.anchor[i] != j {
			j = c.anchor[i]
			spread = f.values[j].spread(p, shape, f.analytic[c.anchors[j]-1])
		}
		dst[i] = floor(c.path[i]+spread, c.signed)
		if !c.signed && p <= f.nights.Zero(i) {
			dst[i] = 0
		}
	}
}

// oneSigma is the level of a Gaussian's mean plus one standard deviation.
const oneSigma = 0.8413447460685429

// Forecast is the forecast of the coming h steps, with marginals as they are calibrated; standard errors are half the
// distance of the quantiles at one standard deviation. Beyond the horizon both widen as the members' own standard
// errors do.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	h = max(h, 0)
	out := forecast.Forecast{
		Start:  f.points.next,
		Step:   f.points.step,
		Point:  make([]float64, h),
		StdErr: make([]float64, h),
	}
	f.points.PointsTo(out.Point)
	m := f.marginals(out.Point)
	f.quieten(out.Point)
	out.Marginals = m
	for i := range out.StdErr {
		out.StdErr[i] = math.Max(0, (m.Quantile(i, oneSigma)-m.Quantile(i, 1-oneSigma))/2)
	}
	return out
}

// marginals are the distributions of a forecast's steps, apart from the ensemble they came from.
type marginals struct {
	points []float64
	// anchor gives for each step up to the horizon which of the spreads is its own.
	anchor  []int
	spreads []spread
	// growth is how much wider than at the horizon a step beyond it is.
	growth []float64
	// zero is, by step, the probability that it is 0.
	zero   []float64
	signed bool
}

// spread is a target that takes no more errors, and the standard error by the members' account.
type spread struct {
	target  target
	account float64
}

func (f *Fitted) marginals(points []float64) marginals {
	c := f.points
	m := marginals{points: slices.Clone(points), anchor: c.anchor, signed: c.signed}
	for j, h := range c.anchors {
		m.spreads = append(m.spreads, spread{f.values[j].clone(), f.analytic[h-1]})
	}
	for i := range points {
		m.zero = append(m.zero, f.nights.Zero(i))
	}
	if len(points) > c.horizon {
		deviations := c.deviations(len(points))
		for _, d := range deviations[c.horizon:] {
			m.growth = append(m.growth, ratio(d, deviations[c.horizon-1]))
		}
	}
	return m
}

// ratio of two standard errors, 1 where it is not one that widens.
func ratio(further, nearer float64) float64 {
	r := further / nearer
	if !(r > 1) || math.IsInf(r, 1) {
		return 1
	}
	return r
}

// Quantile is the p-quantile of step i.
func (m marginals) Quantile(i int, p float64) float64 {
	if !m.signed && p <= m.zero[i] {
		return 0
	}
	growth, within := 1.0, i
	if horizon := len(m.anchor); i >= horizon {
		growth, within = m.growth[i-horizon], horizon-1
	}
	s := &m.spreads[m.anchor[within]]
	return floor(m.points[i]+growth*s.target.spread(p, m.spreads[0].target.shape(p), s.account), m.signed)
}
