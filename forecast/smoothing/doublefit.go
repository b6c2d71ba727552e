package smoothing

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
	"github.com/forewarm/forewarm/forecast/smoothing/internal/innovations"
)

// doubleSearch is the estimation of a DoubleSeasonal on one series. Its variables are angles, as the share that a
// parameter takes of its range is sin²(angle).
type doubleSearch struct {
	model      DoubleSeasonal
	values     []float64
	start, end doubleState
	outlook    *outlook
}

// given are the parameters that the caller set, in the order of the variables; nil ones are searched.
func (m DoubleSeasonal) given() []*float64 {
	out := []*float64{m.Alpha, m.Delta, m.Omega, m.Rho}
	if m.Damped {
		out = append(out, m.Beta, m.Phi)
	}
	return out
}

// mostRho bounds an estimated autoregression: closer to 1 it cannot be told from the level.
const mostRho = 0.99

// at is the parameters at a point: δ and ω are searched as shares of 1 − α, β as one of
// α, ρ between −0.99 and 0.99, φ between 0.8 and 0.98.
func (s *doubleSearch) at(x []float64) DoubleParameters {
	v := [6]float64{5: 1}
	next := 0
	for i, given := range s.model.given() {
		if given != nil {
			v[i] = *given
			continue
		}
		sine := math.Sin(x[next])
		v[i] = sine * sine
		next++
		switch i {
		case 1, 2:
			v[i] *= 1 - v[0]
		case 3:
			v[i] = mostRho * (2*v[i] - 1)
		case 4:
			v[i] *= v[0]
		case 5:
			v[i] = leastPhi + phiRange*v[i]
		}
	}
	return DoubleParameters{Alpha: v[0], Delta: v[1], Omega: v[2], Rho: v[3], Beta: v[4], Phi: v[5]}
}

// pass smooths the values and returns the sum of the squared surprises.
func (s *doubleSearch) pass(p DoubleParameters) float64 {
	s.end.set(&s.start)
	return s.end.run(p, s.values)
}

func (s *doubleSearch) objective(x []float64) float64 {
	if s.outlook == nil {
		return s.pass(s.at(x))
	}
	return s.ahead(s.at(x))
}

// ahead is the loss over the criterion's steps.
func (s *doubleSearch) ahead(p DoubleParameters) float64 {
	o := s.outlook
	o.clear()
	s.end.set(&s.start)
	for from := 0; from < len(s.values); from += o.stride {
		s.end.points(p, o.points)
		o.compare(s.values[from:])
		s.end.run(p, s.values[from:min(from+o.stride, len(s.values))])
	}
	return o.loss()
}

// minimise is the parameters with the least objective: brief descents from good points of a grid, then the best two
// go on.
func (s *doubleSearch) minimise() DoubleParameters {
	points := s.grid()
	ends := make([]numeric.Result, len(points))
	for i, x := range points {
		ends[i] = numeric.Result{X: x, Value: s.objective(x)}
	}
	better := func(a, b numeric.Result) int { return cmp.Compare(a.Value, b.Value) }
	for _, round := range []struct {
		keep    int
		simplex numeric.Simplex
	}{
		{4, numeric.Simplex{Edge: 0.2, Tolerance: 1e-8, Evaluations: glance}},
		{2, numeric.Simplex{Edge: 0.05, Tolerance: 1e-8, Evaluations: thorough}},
	} {
		slices.SortStableFunc(ends, better)
		ends = ends[:min(round.keep, len(ends))]
		for i, from := range ends {
			ends[i] = round.simplex.Minimise(s.objective, from.X)
		}
	}
	return s.at(slices.MinFunc(ends, better).X)
}

// grid is points of slow and fast smoothing.
func (s *doubleSearch) grid() [][]float64 {
	shares := [6][]float64{{0.02, 0.2, 0.6}, {0.02, 0.2}, {0.02, 0.2}, {0.6, 0.9}, {0.05}, {0.8}}
	points := [][]float64{{}}
	for i, given := range s.model.given() {
		if given != nil {
			continue
		}
		var longer [][]float64
		for _, point := range points {
			for _, share := range shares[i] {
				longer = append(longer, append(slices.Clip(point), math.Asin(math.Sqrt(share))))
			}
		}
		points = longer
	}
	return points
}

// fit estimates the model on values of the order of 1 that begin with an observation.
func (m DoubleSeasonal) fit(values []float64) *FittedDouble {
	s := &doubleSearch{model: m, values: values, start: m.begin(values), end: newDoubleState(m.Periods)}
	if !m.Criterion.plain() {
		s.outlook = newOutlook(m.Criterion, len(values))
	}
	p := s.minimise()
	sum, count := s.pass(p), 0
	f := &FittedDouble{parameters: p, periods: m.Periods, state: newDoubleState(m.Periods), sse: sum}
	f.gap = newDoubleResponses(p, m.Periods)
	f.state.set(&s.start)
	for _, y := range values {
		f.observe(y)
		if !math.IsNaN(y) {
			count++
		}
	}
	f.deviation = math.Sqrt(sum / float64(max(count-len(m.given()), 1)))
	if s.outlook != nil && !math.IsInf(s.ahead(p), 1) {
		responses := newDoubleResponses(p, m.Periods)
		f.deviation = s.outlook.calibrated(f.deviation, responses.next)
	}
	return f
}

// begin is the starting states: the week from the classical decomposition of all whole weeks, as the mean of many is what
// a season that moves little wants; the day as the mean over the week's days; and the level of the first week. Trend and
// remainder start at 0.
func (m DoubleSeasonal) begin(values []float64) doubleState {
	short, long := m.Periods[0], m.Periods[1]
	whole := values[:len(values)/long*long]
	week := innovations.Additive(whole, long)
	out := newDoubleState(m.Periods)
	for i, v := range week.Season {
		out.short[i%short] += v * float64(short) / float64(long)
	}
	for i, v := range week.Season {
		out.long[i] = v - out.short[i%short]
	}
	sum, count := 0.0, 0.0
	for i, v := range values[:long] {
		if !math.IsNaN(v) {
			count++
			sum += v - week.Season[i]
		}
	}
	out.level = sum / count
	return out
}

// FittedDouble is a double-seasonal exponential smoothing with its parameters, and its states after the last
// observation.
type FittedDouble struct {
	parameters     DoubleParameters
	periods        [2]int
	state          doubleState
	sse, deviation float64
	// gap, missed and faded are those of Fitted.
	gap           doubleResponses
	missed, faded float64
	next          time.Time
	step          time.Duration
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *FittedDouble) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.observe(y)
}

func (f *FittedDouble) observe(y float64) {
	one := [1]float64{y}
	if !numeric.Observed(y) {
		one[0] = math.NaN()
		f.state.run(f.parameters, one[:])
		c := f.gap.next()
		f.missed += c * c
		return
	}
	f.state.run(f.parameters, one[:])
	rest := 1 - f.parameters.Alpha
	f.faded = rest * rest * (f.faded + f.missed)
	f.missed = 0
	f.gap = newDoubleResponses(f.parameters, f.periods)
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst.
func (f *FittedDouble) PointsTo(dst []float64) { f.state.points(f.parameters, dst) }

// Forecast is the forecast of the coming h steps, with the standard errors of a linear innovations model (Hyndman et al.
// 2008, §6.1).
func (f *FittedDouble) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	variance, ahead := 1+f.missed+f.faded, f.gap
	for i := range out.StdErr {
		out.StdErr[i] = f.deviation * math.Sqrt(variance)
		c := ahead.next()
		variance += c * c
	}
	return out
}

// Parameters are the smoothing parameters, fitted or fixed.
func (f *FittedDouble) Parameters() DoubleParameters { return f.parameters }

// Level is the level at the origin.
func (f *FittedDouble) Level() float64 { return f.state.level }

// Trend is the trend per step at the origin, before damping.
func (f *FittedDouble) Trend() float64 { return f.state.trend }

// Remainder is what level and seasons leave at the origin; Rho times it is part of the next step's forecast.
func (f *FittedDouble) Remainder() float64 { return f.state.rest }

// Seasons are the short and the long season as they stand, the coming step's first. The slices are the caller's.
func (f *FittedDouble) Seasons() (short, long []float64) {
	s := &f.state
	return slices.Concat(s.short[s.atShort:], s.short[:s.atShort]), slices.Concat(s.long[s.atLong:], s.long[:s.atLong])
}

// SSE is the sum of the squared one-step errors over the series that was fitted.
func (f *FittedDouble) SSE() float64 { return f.sse }

// rescale multiplies the states with the scale of the series.
func (f *FittedDouble) rescale(scale float64) {
	f.state.level *= scale
	f.state.trend *= scale
	f.state.rest *= scale
	for _, season := range [][]float64{f.state.short, f.state.long} {
		for i := range season {
			season[i] *= scale
		}
	}
	f.sse *= scale * scale
	f.deviation *= scale
}
