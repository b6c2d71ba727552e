package theta

import (
	"math"

	"github.com/forewarm/forewarm/forecast/internal/optimise"
)

// The range of the smoothing parameter, and how finely it is looked through before the search for the best.
const (
	leastAlpha = 1e-4
	mostAlpha  = 1 - 1e-4
	cells      = 12
)

// path is what simple exponential smoothing leaves at the end of a series.
type path struct {
	alpha, level, deviation float64
	// fade is what is left of the first level's weight.
	fade float64
	// missed is how many values are missing since the last observation.
	missed int
}

// smooth is simple exponential smoothing with the parameter and the first level that make the sum of the squared errors
// least.
func smooth(values []float64) path {
	sse := func(alpha float64) float64 { s, _ := errorsOf(values, alpha); return s }
	best, least := 0, math.Inf(1)
	width := (mostAlpha - leastAlpha) / cells
	for i := range cells + 1 {
		if s := sse(leastAlpha + float64(i)*width); s < least {
			best, least = i, s
		}
	}
	low := leastAlpha + width*float64(max(best-1, 0))
	high := leastAlpha + width*float64(min(best+1, cells))
	alpha := optimise.Golden(sse, low, high, 1e-8)
	squares, first := errorsOf(values, alpha)
	p := path{alpha: alpha, level: first, fade: 1}
	n := 0
	for _, y := range values {
		p.missed++
		if !math.IsNaN(y) {
			p.level += alpha * (y - p.level)
			p.fade *= 1 - alpha
			p.missed = 0
			n++
		}
	}
	p.deviation = math.Sqrt(squares / float64(max(n-2, 1)))
	return p
}

// errorsOf is the sum of the squared errors with the first level that makes it least, and that level. The level before
// each value is a + b·first, so the sum is a parabola in first.
func errorsOf(values []float64, alpha float64) (squares, first float64) {
	a, b := 0.0, 1.0
	var yy, yb, bb float64
	for _, y := range values {
		if math.IsNaN(y) {
			continue
		}
		e := y - a
		yy += e * e
		yb += e * b
		bb += b * b
		a += alpha * e
		b *= 1 - alpha
	}
	first = yb / bb
	return max(yy-yb*first, 0), first
}
