package decompose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/forewarm/forewarm/forecast"
)

// stl splits a series into a trend, one season and a remainder by loess (R. B. Cleveland, W. S. Cleveland, McRae &
// Terpenning 1990).
type stl struct {
	// period is the length of the season in steps, 2 or more.
	period int
	// window is over how many seasons each slot of the season is smoothed, odd and 3 or more: the wider, the more slowly
	// the season changes.
	window int
	// robust keeps outliers out of trend and season. It takes some 20 times as long. (R's stl, whose partial sort now and
	// then takes another order statistic for the median of the remainders, comes out a little different then.)
	robust bool
}

// The numbers of iterations that Cleveland et al. (1990) advise.
const (
	innerPlain  = 2
	innerRobust = 1
	outerRobust = 15
)

// run is the decomposition of a series without gaps.
func (d stl) run(y []float64) *loop {
	l := newLoop(y, d)
	if d.robust {
		l.run(innerRobust, outerRobust)
	} else {
		l.run(innerPlain, 0)
	}
	return l
}

// trendWindow is over how many steps the trend is smoothed: the least that leaves the season to the season (Cleveland et
// al. 1990, section 3.6), about one and a half seasons.
func (d stl) trendWindow() int { return odd(1.5 * float64(d.period) / (1 - 1.5/float64(d.window))) }

// odd is the least odd number from x on.
func odd(x float64) int {
	n := int(math.Ceil(x))
	return n + 1 - n%2
}

// cycle is an effect that repeats, and where in it the next step lies.
type cycle struct {
	effects []float64
	at      int
}

// next is the effect on the coming step.
func (c *cycle) next() float64 { return c.effects[c.at] }

func (c *cycle) advance() { c.at = (c.at + 1) % len(c.effects) }

// addTo adds the effects on the coming steps to dst.
func (c *cycle) addTo(dst []float64) {
	for i := range dst {
		dst[i] += c.effects[(c.at+i)%len(c.effects)]
	}
}

// shifted are marginals with an effect added to each step.
type shifted struct {
	forecast.Marginals
	by []float64
}

// Quantile is that of the marginals, shifted.
func (s shifted) Quantile(i int, p float64) float64 { return s.Marginals.Quantile(i, p) + s.by[i] }

// loess is a smoother by local regression on evenly spaced values (Cleveland 1979): the value at a point is that of a
// constant or a line fitted to the window around it, with tricube weights that fall with the distance.
type loess struct {
	// window is how many values a fit sees, odd. Where there are fewer, all are seen and the weights fall more slowly.
	window int
	// linear fits a line; without it a constant.
	linear bool
	// jump is how far apart fits are made; between them the smooth is a straight line.
	jump int
	// rows are the tricube weights of a window, by where in it the point lies, from one step before its first value to
	// one step after its last: made when asked for, for series longer than a window.
	rows [][]float64
	// kernel are the weights in the middle of a series, divided by their sum.
	kernel []float64
}

// Within these shares of the radius a weight is taken for 1 and for 0. They are those of the authors' program.
const (
	innermost = 0.001
	outermost = 0.999
)

// newLoess fits on a tenth of the points: between them the smooth of so wide a window hardly bends.
func newLoess(window int, linear bool) *loess {
	return &loess{window: window, linear: linear, jump: (window + 9) / 10}
}

// row are the tricube weights of a window whose point lies at the offset from its first value.
func (l *loess) row(offset int) []float64 {
	if l.rows == nil {
		l.rows = make([][]float64, l.window+2)
	}
	if row := l.rows[offset+1]; row != nil {
		return row
	}
	row := make([]float64, l.window)
	radius := float64(max(offset, l.window-1-offset))
	for i := range row {
		row[i] = tricube(math.Abs(float64(i-offset)), radius)
	}
	l.rows[offset+1] = row
	return row
}

// middle are the weights around a point in the middle of a series, summing to 1.
func (l *loess) middle() []float64 {
	if l.kernel == nil {
		l.kernel = slices.Clone(l.row(l.window / 2))
		floats.Scale(1/floats.Sum(l.kernel), l.kernel)
	}
	return l.kernel
}

// tricube is the weight at a distance r within the radius h.
func tricube(r, h float64) float64 {
	switch {
	case r <= innermost*h:
		return 1
	case r > outermost*h:
		return 0
	}
	u := r / h
	u = 1 - u*u*u
	return u * u * u
}

// smooth writes the smooth of y to dst, which is as long. The weights multiply the tricube weights; nil are all 1.
func (l *loess) smooth(dst, y, weights []float64) {
	n := len(y)
	if n < 2 {
		copy(dst, y)
		return
	}
	jump := min(l.jump, n-1)
	last := 0
	dst[0] = l.fit(y, weights, 0)
	for i := jump; i < n; i += jump {
		dst[i] = l.fit(y, weights, i)
		interpolate(dst, last, i)
		last = i
	}
	if last < n-1 {
		dst[n-1] = l.fit(y, weights, n-1)
		interpolate(dst, last, n-1)
	}
}

// interpolate draws a straight line from dst[i] to dst[j].
func interpolate(dst []float64, i, j int) {
	slope := (dst[j] - dst[i]) / float64(j-i)
	for k := i + 1; k < j; k++ {
		dst[k] = dst[i] + slope*float64(k-i)
	}
}

// fit is the smooth at a point of y: the value there where no weight is left around it.
func (l *loess) fit(y, weights []float64, at int) float64 {
	n, half := len(y), l.window/2
	if weights == nil && at >= half && at < n-half {
		// In the middle the weights are the same on either side, so the line's slope has no say.
		return floats.Dot(l.middle(), y[at-half:at-half+l.window])
	}
	return l.estimate(y, weights, at, y[at])
}

// estimate is the fit at a point, which may lie one step outside the series, by the window of values around it, or
// nearest to it; otherwise where no weight is left.
func (l *loess) estimate(y, weights []float64, at int, otherwise float64) float64 {
	n := len(y)
	if l.window >= n {
		return l.all(y, weights, at, otherwise)
	}
	left := min(max(at-l.window/2, 0), n-l.window)
	row := l.row(at - left)
	y = y[left : left+len(row)]
	var m moments
	if weights == nil {
		for i, w := range row {
			m.add(w, float64(i+left-at), y[i])
		}
	} else {
		weights = weights[left : left+len(row)]
		for i, w := range row {
			m.add(w*weights[i], float64(i+left-at), y[i])
		}
	}
	return m.value(l.linear, n, otherwise)
}

// all is the fit at a point by all values, for a window that is wider than the series: its radius grows by half of what
// it is wider.
func (l *loess) all(y, weights []float64, at int, otherwise float64) float64 {
	n := len(y)
	radius := float64(max(at, n-1-at) + (l.window-n)/2)
	var m moments
	for j, v := range y {
		w := tricube(math.Abs(float64(j-at)), radius)
		if weights != nil {
			w *= weights[j]
		}
		m.add(w, float64(j-at), v)
	}
	return m.value(l.linear, n, otherwise)
}

// moments are the sums that a weighted line through (x, y) needs: of w, wx, wx², wy and wxy.
type moments struct{ w, x, xx, y, xy float64 }

func (m *moments) add(w, x, y float64) {
	m.w += w
	wx := w * x
	m.x += wx
	m.xx += wx * x
	m.y += w * y
	m.xy += wx * y
}

// value is the fit at x = 0. A line is only drawn where the points around it spread over more than a thousandth of the
// n values.
func (m *moments) value(linear bool, n int, otherwise float64) float64 {
	if m.w <= 0 {
		return otherwise
	}
	x, y := m.x/m.w, m.y/m.w
	spread := m.xx/m.w - x*x
	if !linear || math.Sqrt(max(spread, 0)) <= 0.001*float64(n-1) {
		return y
	}
	return y - x/spread*(m.xy/m.w-x*y)
}
