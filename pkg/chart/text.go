package chart

import (
	"math"
	"slices"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Bars draws a character per value: a dot for 0, at least an eighth of a block for more, a full block for top, a blank
// for an unknown value.
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

// Curve is a line in characters, NaN where it is unknown; without Char it is a line of strokes.
type Curve struct {
	Name, Char string
	Color      Color
	Values     []float64
}

// Color is the colour of a curve.
type Color int

// The colours of curves; Plain is the terminal's own.
const (
	Plain Color = iota
	Gray
	Blue
	Red
)

// Canvas describes the drawing area of curves.
type Canvas struct {
	Height int
	Color  bool
	// Level labels the vertical axis.
	Level func(float64) string
	// Width and Label describe the horizontal axis; without a Label there is none.
	Width float64
	Label func(float64) string
}

// CurveColumns returns the number of columns for curves in a terminal of a width, between a minimum and most.
func CurveColumns(width, most int) int {
	const least, labels = 40, 12
	return min(most, max(least, width-labels))
}

// Curves draws the curves that have known values, the last one on top, with a legend below, the last one first; empty
// where nothing is known.
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
			if math.Abs(y) < 1e-9 { // A zero may be the remainder of a subtraction.
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
