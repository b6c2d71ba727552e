package chart

import (
	"math"
	"strconv"
)

// Badge is a letter on the point that it belongs to, and what is said of it.
type Badge struct {
	Class, Letter, Says string

	at     Point   // a share of the width, and pixels from the top
	aside  float64 // pixels between the point and its letter
	placed bool
}

// Badge sets a letter on a point.
func (c *Chart) Badge(b Badge, at Point) {
	b.at = Point{c.X.At(at.X), c.fromTop(at.Y)}
	c.badges = append(c.badges, b)
}

// Left is where the point stands, as an attribute of SVG.
func (b Badge) Left() string { return percent(b.at.X) }

// Top is where the point stands, as an attribute of SVG.
func (b Badge) Top() string { return pixels(b.at.Y) }

// Aside is how far the letter stands beside its point; empty where it stands on it.
func (b Badge) Aside() string {
	if b.aside == 0 {
		return ""
	}
	return strconv.FormatFloat(b.aside, 'f', 0, 64)
}

// spread sets letters aside, to the left or to the right of their points, so that they hide neither each other nor other
// points, be the page narrow or wide. Those that were added last are the last to give way.
func spread(all []Badge) {
	const step = 24
	for i := len(all) - 1; i >= 0; i-- {
		b := &all[i]
		for _, aside := range []float64{0, step, -step, 2 * step, -2 * step, 3 * step, -3 * step, 4 * step, -4 * step} {
			if free(all, i, aside) {
				b.aside = aside
				break
			}
		}
		b.placed = true
	}
}

// free says whether a letter that is set aside so far hides nothing.
func free(all []Badge, i int, aside float64) bool {
	const apart, radius = 21, 14
	for _, wide := range []float64{360, 1060} {
		x := wide*all[i].at.X + aside
		if x < 0 || x > wide {
			return false
		}
		for j := range all {
			if j == i {
				continue
			}
			o := &all[j]
			down := all[i].at.Y - o.at.Y
			if o.placed && math.Hypot(x-wide*o.at.X-o.aside, down) < apart || math.Hypot(x-wide*o.at.X, down) < radius {
				return false
			}
		}
	}
	return true
}
