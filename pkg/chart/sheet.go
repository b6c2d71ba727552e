package chart

import (
	"html/template"
	"strings"
)

// Sheet is a picture of its own. What is on it was put there, in pixels from its left top.
type Sheet struct {
	Width, Height float64
	// Title and Description are for those who cannot see it.
	Title, Description string

	texts    []placed
	charts   []*Chart
	swatches []swatch
}

// placed is a text on a sheet.
type placed struct {
	Class, Text string
	X, Y        float64
}

// swatch is a mark in a legend.
type swatch struct {
	X, Y, Width, Height float64
	Marks               []mark
}

// Text writes a line.
func (s *Sheet) Text(class string, x, y float64, text string) {
	s.texts = append(s.texts, placed{class, text, x, y})
}

// Chart puts a chart in a width.
func (s *Sheet) Chart(x, y, width float64, c *Chart) {
	c.x, c.y, c.width = short(x), short(y), short(width)
	s.charts = append(s.charts, c)
}

// Key is what a legend names: a mark, drawn from 0 to 1 on both axes.
type Key struct {
	Name string
	Draw func(*Chart)
}

// LineKey names a line.
func LineKey(class, name string) Key {
	return Key{name, func(c *Chart) { c.Line(class, Point{0, 0.5}, Point{1, 0.5}) }}
}

// AreaKey names an area.
func AreaKey(class, name string) Key {
	return Key{name, func(c *Chart) { c.Box(class, Point{0, 0}, Point{1, 1}) }}
}

// DotKey names dots.
func DotKey(class, name string) Key {
	return Key{name, func(c *Chart) { c.Dots(class, Point{0.5, 0.5}) }}
}

// Legend names marks in a row; y is that of its texts.
func (s *Sheet) Legend(x, y float64, keys ...Key) {
	const width, tall, gap = 20, 10, 7
	for _, k := range keys {
		c := &Chart{X: Axis{To: 1}, Y: Axis{To: 1}, Tall: tall, Across: width, Up: tall}
		k.Draw(c)
		s.swatches = append(s.swatches, swatch{x, y - tall + 1, width, tall, c.marks})
		s.Text("label", x+width+gap, y, k.Name)
		x += width + gap + labelWidth(k.Name) + 2.5*gap
	}
}

// labelWidth is about how wide a label is, whatever sans-serif it is set in.
func labelWidth(text string) float64 {
	width := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune(" fijlrt.,:;'()|", r):
			width += 3.4
		case strings.ContainsRune("mwMW%", r):
			width += 9.5
		default:
			width += 6.6
		}
	}
	return width
}

// SVG is the picture, fit to stand in a page or to be a file of its own.
func (s *Sheet) SVG() ([]byte, error) {
	out, err := filled("sheet.svg", map[string]any{
		"Sheet": s, "Style": template.CSS(resolved()), //nolint:gosec // Our own.
		"Texts": s.texts, "Charts": s.charts, "Swatches": s.swatches,
	})
	return []byte(out), err
}
