package theta

import (
	"math"

	"github.com/forewarm/forewarm/forecast/internal/optimise"
)

// leastAlpha is the slowest smoothing: that of ten thousand steps.
const leastAlpha = 1e-4

// fit estimates the method on values that begin with an observation, near 1 in size.
func (m Theta) fit(values []float64) *Fitted {
	slope := 0.0
	if m.Line != Dynamic {
		slope = straight(values)
	}
	p := pass{values: values, slope: slope, dynamic: m.Line == Dynamic, free: m.Line != Standard}
	alpha := p.search()
	start, part, _ := p.solve(alpha)
	if m.Line == Standard {
		part = 0.5
		start -= part * slope // The first forecast is the level's alone (Hyndman & Billah 2003).
	}
	f := &Fitted{
		alpha: alpha, part: part, dynamic: p.dynamic, level: start, drift: part * slope, line: line{kept: 1},
	}
	parameters := 2
	if p.free {
		parameters++
	}
	f.run(values, parameters, m.Line == Standard)
	return f
}

// run moves the state over the values and takes the deviation of its errors; of the standard method it is that of the
// smoothing alone, which was fitted.
func (f *Fitted) run(values []float64, parameters int, alone bool) {
	sum, n, plain := 0.0, 0, f.level+f.drift
	for _, y := range values {
		if math.IsNaN(y) {
			f.Update(y)
			continue
		}
		expected := f.expected()
		if alone {
			expected = plain
		}
		e := y - expected
		plain += f.alpha * e
		sum += e * e
		n++
		f.take(y)
		f.unknown *= (1 - f.alpha) * (1 - f.alpha)
	}
	if n > parameters {
		n -= parameters
	}
	f.deviation = math.Sqrt(sum / float64(n))
}

// straight is the slope of the least-squares line through the observations.
func straight(values []float64) float64 {
	n, x, y := 0.0, 0.0, 0.0
	for i, v := range values {
		if !math.IsNaN(v) {
			n++
			x += (float64(i) - x) / n
			y += (v - y) / n
		}
	}
	cross, squares := 0.0, 0.0
	for i, v := range values {
		if !math.IsNaN(v) {
			d := float64(i) - x
			cross += d * (v - y)
			squares += d * d
		}
	}
	return cross / squares
}

// pass is a run of the smoothing over the values, as a function of α. Its errors are linear in the first level and in the
// part of the line, so that both are solved for.
type pass struct {
	values []float64
	slope  float64
	// dynamic means that the line is that of what was observed so far, free that its part is not 0.
	dynamic, free bool
}

// search is the α of the least squares, by a grid and then by Brent's method between the neighbours of its best.
func (p pass) search() float64 {
	const cells = 12
	at := func(i int) float64 { // Denser where smoothing is slow.
		u := float64(i) / cells
		return leastAlpha + (1-leastAlpha)*u*u
	}
	loss := func(alpha float64) float64 {
		_, _, squares := p.solve(alpha)
		return squares
	}
	best, least := 0, math.Inf(1)
	for i := range cells + 1 {
		if v := loss(at(i)); v < least {
			best, least = i, v
		}
	}
	const tolerance = 1e-7
	found := optimise.Brent(loss, at(max(best-1, 0)), at(min(best+1, cells)), tolerance)
	if loss(found) < least {
		return found
	}
	return at(best)
}

// solve gives the first level and the part of the line with which the squared errors at α are least, and their sum.
func (p pass) solve(alpha float64) (start, part, squares float64) {
	var m moments
	// The level is base + first·start + more·part.
	base, first, more := 0.0, 1.0, 0.0
	l := line{kept: 1}
	for _, y := range p.values {
		ahead := p.slope
		if p.dynamic {
			ahead = l.ahead(alpha)
		} else {
			more += p.slope
			ahead = 0
		}
		if math.IsNaN(y) {
			continue
		}
		m.add(y-base, first, more+ahead)
		base += alpha * (y - base)
		first *= 1 - alpha
		more *= 1 - alpha
		if p.dynamic {
			l.take(y, alpha)
		}
	}
	return m.solve(p.free)
}

// moments are those of errors e that start·a + part·b should explain.
type moments struct{ ee, ea, eb, aa, ab, bb float64 }

func (m *moments) add(e, a, b float64) {
	m.ee += e * e
	m.ea += e * a
	m.eb += e * b
	m.aa += a * a
	m.ab += a * b
	m.bb += b * b
}

// solve holds the part between 0, θ = 1, and 1.
func (m *moments) solve(free bool) (start, part, squares float64) {
	if determinant := m.aa*m.bb - m.ab*m.ab; free && determinant > 1e-12*m.aa*m.bb {
		part = min(max((m.aa*m.eb-m.ab*m.ea)/determinant, 0), 1)
	}
	start = (m.ea - part*m.ab) / m.aa
	squares = m.ee - 2*start*m.ea - 2*part*m.eb + start*start*m.aa + 2*start*part*m.ab + part*part*m.bb
	return start, part, squares
}
