package backtestcmd

import (
	"bytes"
	"html"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The sheet in points: a heading, what was forecast beside what came, and the loss by horizon below it.
const (
	sheetWidth  vg.Length = 960
	sheetHeight vg.Length = 760
	headHeight  vg.Length = 70
	inset       vg.Length = 16
	// upper is the share of the upper panel.
	upper = 0.56
)

// svg is the backtest as a picture.
func (r report) svg() ([]byte, error) {
	beside, err := r.besidePanel()
	if err != nil {
		return nil, err
	}
	byHorizon, err := r.horizonPanel()
	if err != nil {
		return nil, err
	}
	canvas := vgsvg.New(sheetWidth, sheetHeight)
	sheet := draw.New(canvas)
	sheet.FillPolygon(paper, []vg.Point{
		sheet.Min, {X: sheet.Max.X, Y: sheet.Min.Y}, sheet.Max, {X: sheet.Min.X, Y: sheet.Max.Y},
	})
	r.heading(sheet)
	body := draw.Crop(sheet, inset, -inset, inset, -headHeight)
	height := body.Max.Y - body.Min.Y
	beside.Draw(draw.Crop(body, 0, 0, height*(1-upper)+inset, 0))
	byHorizon.Draw(draw.Crop(body, 0, 0, 0, -height*upper))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, err
	}
	return r.dressed(out.String()), nil
}

// heading is the verdict, on as many lines as it takes.
func (r report) heading(sheet draw.Canvas) {
	const lineHeight, size vg.Length = 15, 11
	style := text(size, ink)
	y := sheet.Max.Y - inset - size
	for _, line := range r.verdictLines(func(line string) bool {
		return style.Width(line) > sheetWidth-2*inset
	}) {
		sheet.FillText(style, vg.Point{X: inset, Y: y}, line)
		y -= lineHeight
	}
}

// dressed names the picture for those who cannot see it, and lets fonts of the same metrics stand in where Liberation is
// not installed.
func (r report) dressed(svg string) []byte {
	svg = strings.ReplaceAll(svg,
		"font-family:Liberation Sans", "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif")
	head, content, _ := strings.Cut(svg, "<svg")
	tag, content, _ := strings.Cut(content, ">")
	title := "Backtest of " + r.history.Source + ": " + r.verdict()
	return []byte(head + `<svg role="img"` + tag + ">\n<title>" + html.EscapeString(title) + "</title>" + content)
}

// text is a style of a size and a colour.
func text(size vg.Length, c colour) draw.TextStyle {
	return draw.TextStyle{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}
