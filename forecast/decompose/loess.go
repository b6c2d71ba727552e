package decompose

import "math"

// loess is a smoother by local regression on evenly spaced values (Cleveland 1979): the value at a point is that of a
// constant or a line fitted to the window around it, with tricube weights that fall with the distance.
type loess struct {
	// window is how many values a fit sees, odd. Where there are fewer, all are seen and the weights fall more slowly.
	window int
	// linear fits a line; without it a constant.
	linear bool
	// jump is how far apart fits are made; between them the smooth is a straight line.
	jump int
	// kernel are the weights in the middle of a series, summing to 1, and tricube the same before division.
	kernel, tricube []float64
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

// prepare computes the kernel for series of at least a window's length; the edges of a series have weights of their own.
func (l *loess) prepare() {
	half := l.window / 2
	l.tricube = make([]float64, l.window)
	l.kernel = make([]float64, l.window)
	sum := 0.0
	for i := range l.tricube {
		l.tricube[i] = tricube(math.Abs(float64(i-half)), float64(half))
		sum += l.tricube[i]
	}
	for i, w := range l.tricube {
		l.kernel[i] = w / sum
	}
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
	if l.kernel == nil && l.window < n {
		l.prepare()
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

// fit is the smooth at a point of y: the point itself where no weight is left around it.
func (l *loess) fit(y, weights []float64, at int) float64 {
	n, half := len(y), l.window/2
	if l.window >= n {
		return l.estimate(y, weights, at, 0, n-1, y[at])
	}
	left := min(max(at-half, 0), n-l.window)
	if left != at-half {
		return l.estimate(y, weights, at, left, left+l.window-1, y[at])
	}
	if weights != nil {
		return l.weighted(y[left:left+l.window], weights[left:left+l.window], n)
	}
	// In the middle the weights are the same on either side, so the line's slope has no say.
	sum := 0.0
	for i, w := range l.kernel {
		sum += w * y[left+i]
	}
	return sum
}

// weighted is the fit at the middle of a window of a series of n values.
func (l *loess) weighted(y, weights []float64, n int) float64 {
	var m moments
	half := l.window / 2
	for i, w := range l.tricube {
		m.add(w*weights[i], float64(i-half), y[i])
	}
	return m.value(l.linear, n, y[half])
}

// estimate is the fit at a point, which may lie one step outside the series, to the values from left to right; otherwise
// where no weight is left.
func (l *loess) estimate(y, weights []float64, at, left, right int, otherwise float64) float64 {
	n := len(y)
	radius := float64(max(at-left, right-at) + max(l.window-n, 0)/2)
	var m moments
	for j := left; j <= right; j++ {
		w := tricube(math.Abs(float64(j-at)), radius)
		if weights != nil {
			w *= weights[j]
		}
		m.add(w, float64(j-at), y[j])
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
