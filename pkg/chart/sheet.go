package chart

import (
	_ "embed"
	"html/template"
	"regexp"
	"strings"
)

// Sheet is a standalone picture. Its contents have places in pixels from the top left.
type Sheet struct {
	Width, Height float64
	// Title and Description are for screen readers.
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

// swatch is a mark of a legend.
type swatch struct {
	X, Y, Width, Height float64
	Marks               []mark
}

// Text adds a line of text.
func (s *Sheet) Text(class string, x, y float64, text string) {
	s.texts = append(s.texts, placed{class, text, x, y})
}

// Chart adds a chart of a width.
func (s *Sheet) Chart(x, y, width float64, c *Chart) {
	c.x, c.y, c.width = coord(x), coord(y), coord(width)
	s.charts = append(s.charts, c)
}

// LegendKey is an entry of a legend: a name, and a mark drawn from 0 to 1 on both axes.
type LegendKey struct {
	Name string
	Draw func(*Chart)
}

// LineKey is the key of a line.
func LineKey(class, name string) LegendKey {
	return LegendKey{name, func(c *Chart) { c.Line(class, Point{0, 0.5}, Point{1, 0.5}) }}
}

// DotKey is the key of dots.
func DotKey(class, name string) LegendKey {
	return LegendKey{name, func(c *Chart) { c.Dots(class, Point{0.5, 0.5}) }}
}

// Legend adds keys in a row; y is the baseline of their texts.
func (s *Sheet) Legend(x, y float64, keys ...LegendKey) {
	const width, tall, gap = 20, 10, 7
	for _, k := range keys {
		c := &Chart{X: Axis{To: 1}, Y: Axis{To: 1}, Tall: tall, Across: width, Up: tall}
		k.Draw(c)
		s.swatches = append(s.swatches, swatch{x, y - tall + 1, width, tall, c.marks})
		s.Text("label", x+width+gap, y, k.Name)
		x += width + gap + labelWidth(k.Name) + 2.5*gap
	}
}

// labelWidth estimates the width of a label in any sans-serif font.
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

// SVG returns the picture, for a page or a file of its own.
func (s *Sheet) SVG() ([]byte, error) {
	out, err := executed("sheet.svg", map[string]any{
		"Sheet": s, "Style": template.CSS(standaloneStyle()), //nolint:gosec // Our own.
		"Texts": s.texts, "Charts": s.charts, "Swatches": s.swatches,
	})
	return []byte(out), err
}

var (
	//go:embed palette.css
	palette string
	//go:embed chart.css
	rules string
)

// Style returns the style sheet of a page with charts: the colours as variables, in light and dark mode, and the rules
// that use them.
func Style() template.CSS {
	return template.CSS(palette + rules) //nolint:gosec // Our own.
}

// standaloneStyle returns the style sheet of a standalone picture, with the light colours in place of the variables,
// which only browsers support.
func standaloneStyle() string {
	light, _, _ := strings.Cut(palette, "@media")
	var names []string
	for _, colour := range regexp.MustCompile(`(--[a-z0-9-]+): (#[0-9a-f]+);`).FindAllStringSubmatch(light, -1) {
		names = append(names, "var("+colour[1]+")", colour[2])
	}
	return strings.NewReplacer(names...).Replace(rules)
}
