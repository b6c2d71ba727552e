package chart

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
)

//go:embed chart.svg sheet.svg spark.svg
var sources embed.FS

//nolint:gochecknoglobals // Parsed once.
var templates = template.Must(template.ParseFS(sources, "*.svg"))

// Point is in the units of the axes; Y is NaN where it is unknown.
type Point struct{ X, Y float64 }

// Chart is a drawing over two axes. Marks are drawn in the order in which they are added, in the style of their class;
// what lies beyond the axes is cut off.
type Chart struct {
	// Title and Description are for screen readers, by an ID that is unique in a page; without an ID there are none.
	ID, Title, Description string

	X, Y Axis
	// Tall is the height of the drawing in pixels. Inside it are Across by Up units, which are stretched to the
	// available width; where a unit is a pixel, shapes are not distorted.
	Tall, Across, Up float64

	// X, y and width are the place in a sheet; in a page a chart takes the full width.
	x, y, width string
	marks, rug  []mark
	notes       []note
	badges      []Badge
}

// mark is a path of a class.
type mark struct{ Class, Path string }

// Line draws a line that breaks where values are unknown; a single point is a dot.
func (c *Chart) Line(class string, points ...Point) {
	var p pen
	var alone []Point
	for _, r := range c.runs(points, nil) {
		if r.to-r.from == 1 {
			alone = append(alone, points[r.from])
			continue
		}
		p.line(c, points[r.from:r.to])
	}
	c.add(class, p.String())
	c.Dots(class, alone...)
}

// Dots draws the known points.
func (c *Chart) Dots(class string, points ...Point) {
	var p pen
	for _, at := range points {
		if x := c.X.At(at.X); humanize.Known(at.Y) && x >= 0 && x <= 1 {
			p.line(c, []Point{at})
			p.WriteString("h0")
		}
	}
	c.add(class+" dot", p.String())
}

// Area fills the space between two lines of the same X where both are known; without a low line, down to the bottom.
func (c *Chart) Area(class string, low, high []Point) {
	var p pen
	for _, r := range c.runs(high, low) {
		p.line(c, high[r.from:r.to])
		if low == nil {
			p.to(c.place(Point{high[r.to-1].X, c.Y.From}))
			p.to(c.place(Point{high[r.from].X, c.Y.From}))
		}
		for i := r.to - 1; i >= r.from && low != nil; i-- {
			p.to(c.place(low[i]))
		}
		p.WriteByte('z')
	}
	c.add(class, p.String())
}

// Box fills a rectangle.
func (c *Chart) Box(class string, from, to Point) {
	c.Area(class, []Point{from, {to.X, from.Y}}, []Point{{from.X, to.Y}, to})
}

// Rug draws marks below the X axis.
func (c *Chart) Rug(class string, at ...float64) {
	var p strings.Builder
	for _, x := range at {
		p.WriteString("M" + coord(c.Across*c.X.At(x)) + " 0v1")
	}
	c.rug = append(c.rug, mark{class, p.String()})
}

func (c *Chart) add(class, path string) {
	if path != "" {
		c.marks = append(c.marks, mark{class, path})
	}
}

// note is a text before or behind a point.
type note struct {
	Class, X, Y, Text string
	Before            bool
}

// Note adds a text next to a point.
func (c *Chart) Note(class string, at Point, text string, before bool) {
	c.notes = append(c.notes, note{class, percent(c.X.At(at.X)), pixels(c.fromTop(at.Y)), text, before})
}

// Steps returns the points of a line that keeps each value for a length of X.
func Steps(values []float64, length float64) []Point {
	out := make([]Point, 0, 2*len(values))
	for i, v := range values {
		out = append(out, Point{length * float64(i), v}, Point{length * float64(i+1), v})
	}
	return out
}

// Highest returns the maximum of some lines, at least 0.
func Highest(lines ...[]Point) float64 {
	highest := 0.0
	for _, line := range lines {
		for _, at := range line {
			if at.Y > highest {
				highest = at.Y
			}
		}
	}
	return highest
}

// Pixels around a drawing: above it, below it for the rug and for the labels.
const (
	above, aboveLabel     = 12, 18
	rugTall, belowRug     = 13, 18
	belowTicks, belowBoth = 26, 44
)

// top returns the top of the drawing, in pixels.
func (c *Chart) top() float64 {
	if c.Y.Label != "" {
		return above + aboveLabel
	}
	return above
}

// bottom returns the bottom of the drawing and its rug, in pixels.
func (c *Chart) bottom() float64 {
	end := c.top() + c.Tall
	if c.rug != nil {
		end += belowRug
	}
	return end
}

// Height returns the total height, in pixels.
func (c *Chart) Height() float64 {
	if c.X.Label != "" {
		return c.bottom() + belowBoth
	}
	return c.bottom() + belowTicks
}

// fromTop returns the vertical position of a value, in pixels.
func (c *Chart) fromTop(y float64) float64 { return c.top() + c.Tall*(1-c.Y.At(y)) }

// label is the label of a tick: At is a share of the width, or pixels from the top. Minor labels are hidden on narrow
// pages.
type label struct {
	At, Text string
	Minor    bool
}

// yLabels returns the labels of the Y axis, above their lines.
func (c *Chart) yLabels() []label {
	var out []label
	for i, t := range c.Y.Ticks {
		if at := c.Y.At(t.Value); at > 0 && at <= 1 {
			out = append(out, label{pixels(c.fromTop(t.Value)), t.Label, i%2 == 1})
		}
	}
	return out
}

// xLabels returns the labels of the X axis: dates have priority over hours, and no share is minor.
func (c *Chart) xLabels() []label {
	dates := 0
	for _, t := range c.X.Ticks {
		if t.date() {
			dates++
		}
	}
	var out []label
	for i, t := range c.X.Ticks {
		minor := !c.X.logarithmic && i%3 != 1
		if dates > 1 && dates < len(c.X.Ticks) {
			minor = !t.date()
		}
		if at := c.X.At(t.Value); c.X.logarithmic || at >= 0.02 && at <= 0.97 {
			out = append(out, label{percent(at), t.Label, minor})
		}
	}
	return out
}

// SVG returns the drawing for a page that has the style sheet.
func (c *Chart) SVG() (template.HTML, error) {
	badges := slices.Clone(c.badges)
	spread(badges)
	top, bottom := c.top(), c.bottom()
	out, err := executed("chart.svg", map[string]any{
		"Chart": c, "Left": c.x, "Up": c.y, "Width": cmp.Or(c.width, "100%"), "Height": pixels(c.Height()),
		"Levels": c.yLabels(), "Columns": c.xLabels(),
		"Top": pixels(top), "Base": pixels(top + c.Tall), "Bottom": pixels(bottom),
		"RugTop": pixels(bottom - rugTall), "RugTall": rugTall,
		"Ticks": pixels(bottom + 17), "Below": pixels(bottom + 38),
		"Marks": c.marks, "Rug": c.rug, "Notes": c.notes, "Badges": badges,
	})
	return template.HTML(out), err //nolint:gosec // Our own template, which escapes its strings.
}

// executed returns an executed template. Texts from users in it cannot hide anything.
func executed(name string, with map[string]any) (string, error) {
	var out bytes.Buffer
	err := templates.ExecuteTemplate(&out, name, with)
	return printable.Text(out.String()), err
}

// percent formats a share of the width as an attribute of SVG.
func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 2, 64) + "%" }

// pixels formats a length as an attribute of SVG.
func pixels(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// UpwardBand shades a range of the X axis, with arrows up along its top: the value is a lower bound.
func (c *Chart) UpwardBand(from, to float64) { c.shade("bound", "arrows", arrows, from, to) }

// HatchedBand shades a range with hatching, so that it differs from UpwardBand without colours: the value is unknown.
func (c *Chart) HatchedBand(from, to float64) { c.shade("gap", "hatch", c.hatch, from, to) }

// shade fills the part of a range that is on the axis, at a visible width, and draws its pattern.
func (c *Chart) shade(class, pattern string, draw func(p *pen, left, right float64), from, to float64) {
	const narrowest = 3
	from, to = max(from, c.X.From), min(to, c.X.To)
	if !(from < to) {
		return
	}
	left := c.Across * c.X.At(from)
	right := max(c.Across*c.X.At(to), left+narrowest)
	c.add(class, "M"+coord(left)+" 0H"+coord(right)+"V"+coord(c.Up)+"H"+coord(left)+"z")
	var p pen
	draw(&p, left, right)
	c.add(pattern, p.String())
}

func arrows(p *pen, left, right float64) {
	const apart, half, size = 19, 3.5, 6
	n := max(1, int((right-left)/apart))
	for i := range n {
		at := left + (right-left)*(float64(i)+0.5)/float64(n)
		p.WriteString("M" + coord(at-half) + " 8h" + coord(2*half) + "l" + coord(-half) + " " + coord(-size) + "z")
	}
}

// hatch draws lines that rise by 45 degrees.
func (c *Chart) hatch(p *pen, left, right float64) {
	const apart = 9
	width := right - left
	for at := apart/2 - c.Up; at < width; at += apart {
		from, to := max(at, 0), min(at+c.Up, width)
		p.WriteString(
			"M" + coord(left+from) + " " + coord(c.Up-from+at) + "L" + coord(left+to) + " " + coord(c.Up-to+at),
		)
	}
}

// Spark returns the marks alone, without ticks and labels, for a row of a table. The title is for screen readers.
func (c *Chart) Spark() (template.HTML, error) {
	out, err := executed("spark.svg", map[string]any{
		"Title": c.Title, "Tall": pixels(c.Tall), "Across": coord(c.Across), "Up": coord(c.Up), "Marks": c.marks,
	})
	return template.HTML(out), err //nolint:gosec // Our own template, which escapes its strings.
}
