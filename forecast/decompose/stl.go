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
	// window is the number of seasons over which each slot of the season is smoothed, odd and 3 or more. With a wider window, the season
	// changes more slowly.
	window int
	// robust prevents outliers from affecting the trend and the season. It takes about 20 times as long. The result may differ slightly
	// from R's stl, whose partial sort sometimes uses another order statistic as the median of the remainders.
	robust bool
}

// The numbers of iterations that Cleveland et al. (1990) recommend.
const (
	innerPlain  = 2
	innerRobust = 1
	outerRobust = 15
)

// run decomposes a series without gaps.
func (d stl) run(y []float64) *loop {
	l := newLoop(y, d)
	if d.robust {
		l.run(innerRobust, outerRobust)
	} else {
		l.run(innerPlain, 0)
	}
	return l
}

// trendWindow returns the number of steps over which the trend is smoothed: the smallest number with which the trend does not include the
// season (Cleveland et al. 1990, section 3.6), about one and a half seasons.
func (d stl) trendWindow() int { return odd(1.5 * float64(d.period) / (1 - 1.5/float64(d.window))) }

// odd returns the smallest odd number that is at least x.
func odd(x float64) int {
	n := int(math.Ceil(x))
	return n + 1 - n%2
}

// cycle is an effect that repeats, with the position of the next step.
type cycle struct {
	effects []float64
	at      int
}

// next returns the effect on the next step.
func (c *cycle) next() float64 { return c.effects[c.at] }

func (c *cycle) advance() { c.at = (c.at + 1) % len(c.effects) }

// addTo adds the effects on the next steps to dst.
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

// Quantile returns the quantile of the marginals plus the effect.
func (s shifted) Quantile(i int, p float64) float64 { return s.Marginals.Quantile(i, p) + s.by[i] }

// loess is a smoother by local regression on evenly spaced values (Cleveland 1979). The value at a point comes from a constant or a line
// that is fitted to the window around the point, with tricube weights that decrease with the distance.
type loess struct {
	// window is the number of values that a fit uses, odd. If there are fewer, the fit uses all values, and the weights decrease more
	// slowly.
	window int
	// linear is true to fit a line, and false to fit a constant.
	linear bool
	// jump is the distance between two fits. Between them, the smooth curve is a straight line.
	jump int
	// rows are the tricube weights of a window for each position of the point, from one step before the window's first value to one step
	// after its last value. They are computed when they are first needed, for series that are longer than a window.
	rows [][]float64
	// kernel has the weights in the middle of a series, divided by their sum.
	kernel []float64
}

// The shares of the radius below which a weight is 1, and above which it is 0. They are the same as in the authors' program.
const (
	innermost = 0.001
	outermost = 0.999
)

// newLoess returns a smoother that fits at about ten points per window. Between these points, the smooth curve of so wide a window is
// almost straight.
func newLoess(window int, linear bool) *loess {
	return &loess{window: window, linear: linear, jump: (window + 9) / 10}
}

// row returns the tricube weights of a window whose point is at an offset from its first value.
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

// middle returns the weights around a point in the middle of a series. Their sum is 1.
func (l *loess) middle() []float64 {
	if l.kernel == nil {
		l.kernel = slices.Clone(l.row(l.window / 2))
		floats.Scale(1/floats.Sum(l.kernel), l.kernel)
	}
	return l.kernel
}

// tricube returns the weight at a distance r within the radius h.
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

// smooth writes the smoothed y to dst, which has the same length. The weights multiply the tricube weights; nil means that all are 1.
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

// fit returns the smoothed value at a point of y. If all weights around it are 0, it returns the value of y at the point.
func (l *loess) fit(y, weights []float64, at int) float64 {
	n, half := len(y), l.window/2
	if weights == nil && at >= half && at < n-half {
		// In the middle, the weights are symmetric, so the slope of the line does not matter.
		return floats.Dot(l.middle(), y[at-half:at-half+l.window])
	}
	return l.estimate(y, weights, at, y[at])
}

// estimate returns the fit at a point, which may be one step outside the series. It uses the window of values around the point, or the
// nearest window. If all weights are 0, it returns otherwise.
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

// all returns the fit at a point with all values, for a window that is wider than the series. The radius grows by half of the difference.
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

// moments are the sums that a weighted line through (x, y) needs: the sums of w, wx, wx², wy and wxy.
type moments struct{ w, x, xx, y, xy float64 }

func (m *moments) add(w, x, y float64) {
	m.w += w
	wx := w * x
	m.x += wx
	m.xx += wx * x
	m.y += w * y
	m.xy += wx * y
}

// value returns the fit at x = 0. It fits a line only if the spread of the points is more than a thousandth of the n values.
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
