package theta

import (
	"math"

	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// leastAlpha is the slowest smoothing: that of ten thousand steps.
const leastAlpha = 1e-4

// estimate fits the method on values that begin with an observation, near 1 in size: half of the slope of the line through
// all of them, and simple exponential smoothing by least squares.
func estimate(values []float64) *Fitted {
	drift := straight(values) / 2
	alpha := search(values)
	start, _ := smooth(values, alpha)
	f := &Fitted{alpha: alpha, level: start - drift, drift: drift} // The first forecast is the level's alone.
	f.run(values)
	return f
}

// run moves the state over the values and takes the deviation of the errors of the smoothing alone, which was fitted.
func (f *Fitted) run(values []float64) {
	sum, n, plain := 0.0, 0, f.level+f.drift
	for _, y := range values {
		if math.IsNaN(y) {
			f.Update(y)
			continue
		}
		e := y - plain
		plain += f.alpha * e
		sum += e * e
		n++
		f.take(y)
		f.unknown *= (1 - f.alpha) * (1 - f.alpha)
	}
	const parameters = 2 // The level and α.
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

// search is the α of the least squares, by a grid and then by Brent's method between the neighbours of its best.
func search(values []float64) float64 {
	const cells = 12
	at := func(i int) float64 { // Denser where smoothing is slow.
		u := float64(i) / cells
		return leastAlpha + (1-leastAlpha)*u*u
	}
	loss := func(alpha float64) float64 {
		_, squares := smooth(values, alpha)
		return squares
	}
	best, least := 0, math.Inf(1)
	for i := range cells + 1 {
		if v := loss(at(i)); v < least {
			best, least = i, v
		}
	}
	const tolerance = 1e-7
	found := numeric.Brent(loss, at(max(best-1, 0)), at(min(best+1, cells)), tolerance)
	if loss(found) < least {
		return found
	}
	return at(best)
}

// smooth gives the first level with which the squared errors at α are least, and their sum: the errors are linear in it.
func smooth(values []float64, alpha float64) (start, squares float64) {
	// The level is base + first·start.
	base, first := 0.0, 1.0
	var ee, ea, aa float64
	for _, y := range values {
		if math.IsNaN(y) {
			continue
		}
		e := y - base
		ee += e * e
		ea += e * first
		aa += first * first
		base += alpha * e
		first *= 1 - alpha
	}
	start = ea / aa
	return start, ee - 2*start*ea + start*start*aa
}
