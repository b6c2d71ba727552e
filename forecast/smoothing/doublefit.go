package smoothing

import (
	"cmp"
	"math"
	"slices"

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
