package inspect

import (
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The palette: dark on light, told apart by lightness as well as by hue.
//
//nolint:gochecknoglobals // Constant colours.
var (
	paper    = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	ink      = color.NRGBA{R: 0x1b, G: 0x26, B: 0x31, A: 0xff}
	soft     = color.NRGBA{R: 0x52, G: 0x60, B: 0x6d, A: 0xff}
	ruling   = color.NRGBA{R: 0xe7, G: 0xec, B: 0xf0, A: 0xff}
	edge     = color.NRGBA{R: 0xb8, G: 0xc4, B: 0xce, A: 0xff}
	observed = color.NRGBA{R: 0x1f, G: 0x4e, B: 0x79, A: 0xff}
	promised = color.NRGBA{R: 0xe0, G: 0x8a, B: 0x1e, A: 0xff}
	came     = color.NRGBA{R: 0x1f, G: 0x4e, B: 0x79, A: 0x8c}
	expected = color.NRGBA{R: 0x0f, G: 0x76, B: 0x6e, A: 0xff}
	fanOuter = color.NRGBA{R: 0x2c, G: 0xb1, B: 0xa3, A: 0x30}
	fanInner = color.NRGBA{R: 0x2c, G: 0xb1, B: 0xa3, A: 0x50}
	served   = color.NRGBA{R: 0xc0, G: 0x26, B: 0x4a, A: 0xff}

	boundPaper  = color.NRGBA{R: 0xe0, G: 0x8a, B: 0x1e, A: 0x2c}
	boundInk    = color.NRGBA{R: 0x9a, G: 0x58, B: 0x00, A: 0xff}
	maskedPaper = color.NRGBA{R: 0x52, G: 0x60, B: 0x6d, A: 0x24}
	maskedInk   = color.NRGBA{R: 0x52, G: 0x60, B: 0x6d, A: 0xa0}
)

// face is Liberation Sans, whose metrics are those of Arial and Helvetica.
func face(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func regular(size font.Length, ink color.Color) text.Style {
	return text.Style{Color: ink, Font: face(size), Handler: text.Plain{Fonts: font.DefaultCache}}
}

func bold(size font.Length) text.Style {
	style := regular(size, ink)
	style.Font.Weight = 2 // The bold of golang.org/x/image/font.
	return style
}

// The strokes of the marks.
func observedLine() draw.LineStyle { return draw.LineStyle{Color: observed, Width: 1.3} }

func promisedLine() draw.LineStyle { return draw.LineStyle{Color: promised, Width: 1.1} }

func expectedLine() draw.LineStyle { return draw.LineStyle{Color: expected, Width: 1.5} }

func servedLine() draw.LineStyle { return draw.LineStyle{Color: served, Width: 2.6} }

func dot(ink color.Color, radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: ink, Radius: radius, Shape: draw.CircleGlyph{}}
}

// mark is one row of the legend.
type mark struct {
	name string
	draw func(c draw.Canvas, at vg.Point, width vg.Length)
}

func legend() []mark {
	stroke := func(style draw.LineStyle) func(draw.Canvas, vg.Point, vg.Length) {
		return func(c draw.Canvas, at vg.Point, width vg.Length) {
			c.StrokeLine2(style, at.X, at.Y, at.X+width, at.Y)
		}
	}
	return []mark{
		{"observed", stroke(observedLine())},
		{"served then", stroke(promisedLine())},
		{"maximum that came", func(c draw.Canvas, at vg.Point, width vg.Length) {
			c.DrawGlyph(dot(came, 2.2), vg.Point{X: at.X + width/2, Y: at.Y})
		}},
		{"expected", stroke(expectedLine())},
		{"median to quantile 0.8, 0.95", drawFanKey},
		{"served now, for its window", stroke(servedLine())},
	}
}

func drawFanKey(c draw.Canvas, at vg.Point, width vg.Length) {
	box := func(ink color.Color, bottom, top vg.Length) {
		c.FillPolygon(ink, []vg.Point{
			{X: at.X, Y: at.Y + bottom},
			{X: at.X + width, Y: at.Y + bottom},
			{X: at.X + width, Y: at.Y + top},
			{X: at.X, Y: at.Y + top},
		})
	}
	box(fanOuter, -4, 4)
	box(fanInner, -4, 1)
}
