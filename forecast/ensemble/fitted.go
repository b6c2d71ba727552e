package ensemble

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// fitted is the combination of the best models at its origin. Update moves their states; their ranking and the errors that
// quantiles rest on stay as they were at the fit.
type fitted struct {
	members []*member
	seen    valueRange
	paths   [maxModels][]float64 // scratch
	next    time.Time
	step    time.Duration
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.seen.observe(y)
	for _, m := range f.members {
		m.fitted.Update(y)
	}
}

// PointsTo writes the medians of the coming len(dst) steps to dst. The first time that dst is so long, it allocates.
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

// Forecast is the forecast of the coming h steps. Standard errors are half of the central 68.3 % interval.
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

// Quantile is the median of the members' p-quantiles at step i.
func (m marginals) Quantile(i int, p float64) float64 {
	var values [maxModels]float64
	for k, member := range m.members {
		values[k] = member.quantileOf(m.forecasts[k], i, p)
	}
	return m.seen.hold(values[:len(m.members)], p)
}

// median of one to three values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return values[(n-1)/2]/2 + values[n/2]/2
}

// valueRange is what the series has shown, within which forecasts stay.
type valueRange struct {
	low, high, last float64
	// least is the smallest value above 0, infinite if there is none.
	least float64
	// sparse means that zeros are common.
	sparse bool
	// quiet is how many steps ago a value was above 0, and season is the longest season, or the horizon if that is longer.
	quiet, season int
}

// manyZeros is the share of zeros from which on they are common.
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

// hold is the median of the members' p-quantiles, which it sorts, within what the series has shown; without members it is
// the last value. If zeros are common, a quantile nearer to 0 than to the smallest value above 0 is 0. But a quantile above
// the median is a little more than 0 after a value above 0 in the last season: such demand may come again.
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
