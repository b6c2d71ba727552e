package ensemble

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// fitted is the combination of the best models at its origin. Update changes their states, but not their ranking and not the errors on
// which quantiles are based.
type fitted struct {
	members []*member
	seen    valueRange
	paths   [maxModels][]float64 // scratch
	next    time.Time
	step    time.Duration
}

// Update moves the origin one step forward. A value that is not finite, or beyond 1e150, counts as missing.
func (f *fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.seen.observe(y)
	for _, m := range f.members {
		m.fitted.Update(y)
	}
}

// PointsTo writes the medians of the next len(dst) steps to dst. It allocates only if dst is longer than ever before.
func (f *fitted) PointsTo(dst []float64) {
	for k, m := range f.members {
		if len(f.paths[k]) < len(dst) {
			f.paths[k] = make([]float64, len(dst))
		}
		m.fitted.PointsTo(f.paths[k][:len(dst)])
	}
	for i := range dst {
		var points [maxModels]float64
		for k := range f.members {
			points[k] = f.paths[k][i]
		}
		dst[i] = f.seen.hold(points[:len(f.members)], 0.5)
	}
}

// Forecast returns the forecast of the next h steps. Standard errors are half of the central 68.3 % interval.
func (f *fitted) Forecast(h int) forecast.Forecast {
	h = max(h, 0)
	out := forecast.Forecast{Start: f.next, Step: f.step, Point: make([]float64, h), StdErr: make([]float64, h)}
	f.PointsTo(out.Point)
	m := marginals{members: f.members, seen: f.seen}
	for _, member := range f.members {
		m.forecasts = append(m.forecasts, member.fitted.Forecast(h))
	}
	out.Marginals = m
	const oneSigma = 0.8413447460685429 // the level of a Gaussian's mean plus one standard deviation
	for i := range out.StdErr {
		out.StdErr[i] = max(m.Quantile(i, oneSigma)-m.Quantile(i, 1-oneSigma), 0) / 2
	}
	return out
}

// marginals are the distributions of a forecast's steps. A later Update does not change them.
type marginals struct {
	members   []*member
	forecasts []forecast.Forecast
	seen      valueRange
}

// Quantile returns the median of the members' p-quantiles at step i.
func (m marginals) Quantile(i int, p float64) float64 {
	var values [maxModels]float64
	for k, member := range m.members {
		values[k] = member.quantileOf(m.forecasts[k], i, p)
	}
	return m.seen.hold(values[:len(m.members)], p)
}

// median returns the median of one to three values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return values[(n-1)/2]/2 + values[n/2]/2
}

// valueRange describes the values that the series has had. It limits the forecasts.
type valueRange struct {
	low, high, last float64
	// least is the smallest value above 0, infinite if there is none.
	least float64
	// sparse means that zeros are common.
	sparse bool
	// quiet is the number of steps since the last value above 0. season is the longest season, or the horizon if that is longer.
	quiet, season int
}

// manyZeros is the share of zeros from which on zeros are common.
const manyZeros = 0.2

func newRange(s forecast.Series, season int) valueRange {
	r := valueRange{low: math.Inf(1), high: math.Inf(-1), least: math.Inf(1), quiet: season, season: season}
	zeros := 0.0
	for _, y := range s.Values {
		r.observe(y)
		if y == 0 {
			zeros++
		}
	}
	r.sparse = zeros >= manyZeros*float64(s.Observed())
	return r
}

func (r *valueRange) observe(y float64) {
	r.quiet++
	if !numeric.Observed(y) {
		return
	}
	r.low, r.high, r.last = min(r.low, y), max(r.high, y), y
	if y > 0 {
		r.least, r.quiet = min(r.least, y), 0
	}
}

// hold returns the median of the members' p-quantiles, which it sorts, limited by the range. Without members, it returns the last value. If
// zeros are common, a quantile that is closer to 0 than to the smallest value above 0 becomes 0. However, a quantile above the median stays
// slightly above 0 if a value in the last season was above 0, because such demand may occur again.
func (r *valueRange) hold(members []float64, p float64) float64 {
	v, room := r.last, r.high-r.low
	if len(members) > 0 {
		v = min(max(median(members), r.low-room), r.high+room)
	}
	if r.low < 0 {
		return v
	}
	if v < 0 || r.sparse && v < r.least/2 {
		v = 0
	}
	if p > 0.5 && r.quiet < r.season {
		v = max(v, (p-0.5)*r.least/float64(r.season))
	}
	return v
}
