package chart

import (
	"math"
	"slices"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Bars are a character for each value: a dot for none, and an eighth of a block at least for any. A full one is as much as
// top; what is not known is left blank.
func Bars(values []float64, top float64) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	var out strings.Builder
	for _, v := range values {
		switch {
		case !humanize.Known(v):
			out.WriteByte(' ')
		case !(v > 0) || !(top > 0):
			out.WriteRune('·')
		default:
			out.WriteRune(blocks[min(int(v/top*float64(len(blocks))), len(blocks)-1)])
		}
	}
	return out.String()
}

// Curve is a line in characters, NaN where nothing is known; without a character of its own it is a line of strokes.
type Curve struct {
	Name, Char string
	Color      Color
	Values     []float64
}

// Color is that of a curve.
type Color int

// The colours of curves; Plain is the terminal's own.
const (
	Plain Color = iota
	Gray
	Blue
	Red
)

// Canvas is where curves are drawn.
type Canvas struct {
	Height int
	Color  bool
	// Level labels the vertical axis.
	Level func(float64) string
	// Width and Label are of a horizontal axis; without a Label there is none.
	Width float64
	Label func(float64) string
}

// Columns is how many columns curves have in a terminal of a width, from the least to the most that are of use.
func Columns(width, most int) int {
	const least, labels = 40, 12
	return min(most, max(least, width-labels))
}

// Curves draws those of which something is known, the last one over the others, and names them below, the last one first;
// empty where nothing is known.
func Curves(on Canvas, curves ...Curve) string {
	ansi := []asciigraph.AnsiColor{asciigraph.Default, asciigraph.DarkGray, asciigraph.Blue, asciigraph.Red}
	var (
		values [][]float64
		chars  []asciigraph.CharSet
		colors []asciigraph.AnsiColor
		legend string
	)
	for _, c := range curves {
		if !slices.ContainsFunc(c.Values, humanize.Known) {
			continue
		}
		set, sign := asciigraph.DefaultCharSet, "─"
		if c.Char != "" {
			set, sign = asciigraph.CreateCharSet(c.Char), c.Char
		}
		values, chars, colors = append(values, c.Values), append(chars, set), append(colors, ansi[c.Color])
		legend = "   " + sign + " " + c.Name + legend
	}
	if len(values) == 0 {
		return ""
	}
	options := []asciigraph.Option{
		asciigraph.Height(on.Height), asciigraph.LowerBound(0), asciigraph.SeriesChars(chars...),
		asciigraph.YAxisValueFormatter(func(y float64) string {
			if math.Abs(y) < 1e-9 { // Zero comes as the rest of a subtraction.
				y = 0
			}
			return on.Level(y)
		}),
	}
	if on.Label != nil {
		options = append(options, asciigraph.XAxisRange(0, on.Width), asciigraph.XAxisValueFormatter(on.Label))
	}
	if on.Color {
		options = append(options, asciigraph.SeriesColors(colors...))
	}
	return asciigraph.PlotMany(values, options...) + "\n" + legend
}
