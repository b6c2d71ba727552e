package chart

import (
	"math"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// pen builds the path of a mark from the shortest commands.
type pen struct {
	strings.Builder

	x, y string // the current position
}

// line starts a new line through the points.
func (p *pen) line(c *Chart, points []Point) {
	p.x, p.y = c.place(points[0])
	p.WriteString("M" + p.x + " " + p.y)
	for _, at := range points[1:] {
		p.to(c.place(at))
	}
}

// to continues the line to a place.
func (p *pen) to(x, y string) {
	switch {
	case x == p.x && y == p.y:
	case y == p.y:
		p.WriteString("H" + x)
	case x == p.x:
		p.WriteString("V" + y)
	default:
		p.WriteString("L" + x + " " + y)
	}
	p.x, p.y = x, y
}

// place returns a point in the units of the drawing.
func (c *Chart) place(at Point) (x, y string) {
	return coord(c.Across * c.X.At(at.X)), coord(c.Up * (1 - c.Y.At(at.Y)))
}

// coord formats a coordinate to a tenth of a unit, within the range of browsers.
func coord(v float64) string {
	const far = 1e6
	return strconv.FormatFloat(math.Round(10*min(max(v, -far), far))/10, 'f', -1, 64)
}

// run is a range of points.
type run struct{ from, to int }

// runs returns the ranges in which the points, and those of another line if there is one, are known. Points beyond the
// X axis are left out, except for the neighbours of visible ones.
func (c *Chart) runs(points, other []Point) []run {
	first, end := 0, len(points)
	for first+1 < end && c.X.At(points[first+1].X) < 0 {
		first++
	}
	for end-2 >= first && c.X.At(points[end-2].X) > 1 {
		end--
	}
	known := func(i int) bool {
		return humanize.Known(points[i].Y) && (len(other) == 0 || humanize.Known(other[i].Y))
	}
	var out []run
	from := first
	for i := first; i <= end; i++ {
		if i < end && known(i) {
			continue
		}
		if i > from {
			out = append(out, run{from, i})
		}
		from = i + 1
	}
	return out
}
