package chart

import (
	"math"
	"strconv"
)

// Badge is a letter on a point, with a title.
type Badge struct {
	Class, Letter, Title string

	at     Point   // the share of the width, and pixels from the top
	aside  float64 // pixels between the point and its letter
	placed bool
}

// Badge adds a letter on a point.
func (c *Chart) Badge(b Badge, at Point) {
	b.at = Point{c.X.At(at.X), c.fromTop(at.Y)}
	c.badges = append(c.badges, b)
}

// Left returns the horizontal position as an attribute of SVG.
func (b Badge) Left() string { return percent(b.at.X) }

// Top returns the vertical position as an attribute of SVG.
func (b Badge) Top() string { return pixels(b.at.Y) }

// Aside returns the offset of the letter from its point; empty without one.
func (b Badge) Aside() string {
	if b.aside == 0 {
		return ""
	}
	return strconv.FormatFloat(b.aside, 'f', 0, 64)
}

// spread moves letters to the left or right of their points, so that they hide neither each other nor other points on
// narrow and wide pages. Letters that were added last move last.
func spread(all []Badge) {
	const step = 24
	for i := len(all) - 1; i >= 0; i-- {
		b := &all[i]
		for _, aside := range []float64{0, step, -step, 2 * step, -2 * step, 3 * step, -3 * step, 4 * step, -4 * step} {
			if isFree(all, i, aside) {
				b.aside = aside
				break
			}
		}
		b.placed = true
	}
}

// isFree reports whether a letter with an offset hides nothing.
func isFree(all []Badge, i int, aside float64) bool {
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
