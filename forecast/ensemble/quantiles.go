package ensemble

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/forewarm/forewarm/forecast"
)

// QuantileTo writes the p-quantile of each of the coming len(dst) steps to dst, 0 < p < 1. No allocation. It does not
// decrease in p. Steps beyond the horizon have the quantile of its last step; Forecast widens them.
func (f *Fitted) QuantileTo(dst []float64, p float64) {
	j := -1
	spread := 0.0
	for i := range dst {
		if i >= f.horizon {
			dst[i] = dst[i-1]
			continue
		}
		if f.anchor[i] != j {
			j = f.anchor[i]
			at := f.anchors[j] - 1
			spread = f.values[j].spread(f.path[at], f.analytic[at], p)
		}
		dst[i] = f.floor(f.path[i] + spread)
	}
}

// MaxQuantile is the p-quantile of the highest value of the coming h steps, 0 < p < 1: what capacity must be there for
// until then. It is calibrated by the maxima that came, not put together from the quantiles of the steps. A window beyond
// the horizon is taken for one of the horizon.
func (f *Fitted) MaxQuantile(h int, p float64) float64 {
	j := f.anchor[min(max(h, 1), f.horizon)-1]
	t := &f.maxima[j]
	centre := t.gauges[0].centre
	return f.floor(centre + t.spread(centre, f.analytic[f.anchors[j]-1], p))
}

// spread is how far the p-quantile of a target lies from its centre: by the errors that were made or, before there are
// enough, under Gaussian ones of a deviation.
func (t *target) spread(centre, deviation, p float64) float64 {
	if t.calibrated() {
		return t.quantile(p) - centre
	}
	return deviation * distuv.UnitNormal.Quantile(p)
}

// oneSigma is the level of a Gaussian's mean plus one standard deviation.
const oneSigma = 0.8413447460685429

// Forecast is the forecast of the coming h steps, with marginals as they are calibrated; standard errors are half the
// distance of the quantiles at one standard deviation. Beyond the horizon both widen as the members' own standard errors
// do.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	h = max(h, 0)
	out := forecast.Forecast{Start: f.next, Step: f.step, Point: make([]float64, h), StdErr: make([]float64, h)}
	f.PointsTo(out.Point)
	m := f.marginals(out.Point)
	out.Marginals = m
	for i := range out.StdErr {
		out.StdErr[i] = math.Max(0, (m.Quantile(i, oneSigma)-m.Quantile(i, 1-oneSigma))/2)
	}
	return out
}

// marginals are the distributions of a forecast's steps, apart from the ensemble they came from.
type marginals struct {
	frozen *Fitted
	points []float64
	// growth is how much wider than at the horizon a step beyond it is.
	growth []float64
}

func (f *Fitted) marginals(points []float64) marginals {
	frozen := &Fitted{
		horizon: f.horizon, anchors: f.anchors, anchor: f.anchor, path: append([]float64(nil), f.path...),
		analytic: f.analytic, signed: f.signed,
	}
	for j := range f.values {
		frozen.values = append(frozen.values, f.values[j].clone())
	}
	m := marginals{frozen: frozen, points: append([]float64(nil), points...)}
	if len(points) > f.horizon {
		deviations := f.deviations(len(points))
		for _, d := range deviations[f.horizon:] {
			m.growth = append(m.growth, ratio(d, deviations[f.horizon-1]))
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
	f, growth, within := m.frozen, 1.0, i
	if i >= f.horizon {
		growth, within = m.growth[i-f.horizon], f.horizon-1
	}
	j := f.anchor[within]
	at := f.anchors[j] - 1
	return f.floor(m.points[i] + growth*f.values[j].spread(f.path[at], f.analytic[at], p))
}

// deviations are the members' standard errors of the coming h steps, by their weights at the nearest anchor.
func (f *Fitted) deviations(h int) []float64 {
	out := make([]float64, h)
	totals := make([]float64, h)
	for k, m := range f.members {
		if m.fitted == nil {
			continue
		}
		for i, d := range m.fitted.Forecast(h).StdErr {
			w := f.weights[f.anchor[min(i, f.horizon-1)]][k]
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
