package inspect

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"time"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

// The sheet in points: a heading, two panels side by side, and the legend below them.
const (
	sheetWidth   vg.Length = 960
	panelHeight  vg.Length = 328
	headHeight   vg.Length = 58
	legendHeight vg.Length = 34
	inset        vg.Length = 14
	// pastShare is the width of the last day's panel, axis included.
	pastShare = 0.6
)

// renderPlot is the outlook as a picture of its own.
func renderPlot(o *v1alpha1.Outlook, now time.Time) (rendering, error) {
	svg, err := drawing(o, now, headHeight)
	if err != nil {
		return rendering{}, err
	}
	return rendering{contentType: "image/svg+xml", body: svg}, nil
}

// drawing is the SVG of an outlook: the last day with the forecasts beside what came, and what lies ahead, under a heading
// of the given height (none where it is 0).
func drawing(o *v1alpha1.Outlook, now time.Time, head vg.Length) ([]byte, error) {
	canvas := vgsvg.New(sheetWidth, panelHeight+legendHeight+max(head, inset))
	sheet := draw.New(canvas)
	sheet.FillPolygon(paper, []vg.Point{
		sheet.Min, {X: sheet.Max.X, Y: sheet.Min.Y}, sheet.Max, {X: sheet.Min.X, Y: sheet.Max.Y},
	})
	body := draw.Crop(sheet, inset, -inset, legendHeight, -max(head, inset))
	before, ahead, err := panels(&o.Status, now)
	if err != nil {
		return nil, fmt.Errorf("plot of %s/%s: %w", o.Namespace, o.Name, err)
	}
	width := body.Max.X - body.Min.X
	before.Draw(draw.Crop(body, 0, -width*(1-pastShare), 0, 0))
	ahead.Draw(draw.Crop(body, width*pastShare+inset, 0, 0, 0))
	if head > 0 {
		drawHeading(sheet, o)
	}
	drawLegend(sheet, append(legend(), repairKeys(o.Status.Repairs)...))

	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("plot of %s/%s: %w", o.Namespace, o.Name, err)
	}
	return dress(out.String(), o, sheet.Max), nil
}

func panels(s *v1alpha1.OutlookStatus, now time.Time) (before, ahead *plot.Plot, err error) {
	before, err = pastPanel(s, now)
	if err != nil {
		return nil, nil, err
	}
	ahead, err = aheadPanel(s, now)
	return before, ahead, err
}

// dress makes gonum's document fit for a page: no prologue, so that it can stand inline; a width that gives way; a title
// for those who cannot see it; and sans-serif fonts of the same metrics where Liberation is not installed.
func dress(svg string, o *v1alpha1.Outlook, size vg.Point) []byte {
	_, content, _ := strings.Cut(svg, "<svg")
	_, content, _ = strings.Cut(content, ">")
	content = strings.ReplaceAll(content,
		"font-family:Liberation Sans", "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif")
	title := html.EscapeString(plain(o.Namespace + "/" + o.Name + ": " + headline(&o.Status)))
	return fmt.Appendf(
		nil,
		`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%g" height="%g" viewBox="0 0 %g %g">`+
			"\n<title>%s</title>%s%s",
		size.X.Points()*4/3,
		size.Y.Points()*4/3,
		size.X.Points(),
		size.Y.Points(),
		title,
		description(&o.Status),
		content,
	)
}

// description is what is shaded, in words; nothing where nothing is.
func description(s *v1alpha1.OutlookStatus) string {
	if len(s.Repairs) == 0 {
		return ""
	}
	return "<desc>" + html.EscapeString(described(s)) + "</desc>"
}

// headline is the outlook in a line.
func headline(s *v1alpha1.OutlookStatus) string {
	if s.Served == nil {
		return s.State + ": nothing is served"
	}
	served := "serves " + number(s.Served)
	if s.Unit != "" {
		served += " " + s.Unit
	}
	parts := []string{served}
	switch {
	case s.Quantile != nil:
		parts = append(parts, "quantile "+level(s)+" of the maximum over the next "+span(s.Window.Duration))
	case s.CostRatio != nil:
		parts = append(parts, "late costs "+level(s)+" an idle replica over the next "+span(s.Window.Duration))
	case s.Late != nil:
		parts = append(parts, level(s)+" over the next "+span(s.Window.Duration))
	}
	return strings.Join(append(parts, s.Model, s.State), "  ·  ")
}

func drawHeading(sheet draw.Canvas, o *v1alpha1.Outlook) {
	left := sheet.Min.X + inset
	sheet.FillText(bold(15), vg.Point{X: left, Y: sheet.Max.Y - 26}, plain(o.Namespace+" / "+o.Name))
	sheet.FillText(regular(10.5, soft), vg.Point{X: left, Y: sheet.Max.Y - 43}, plain(headline(&o.Status)))
}

// drawLegend names the marks in a row below the panels.
func drawLegend(sheet draw.Canvas, marks []mark) {
	const swatch, gap vg.Length = 18, 6
	style := regular(9.5, soft)
	x, y := sheet.Min.X+inset+gap, sheet.Min.Y+15
	for _, m := range marks {
		m.draw(sheet, vg.Point{X: x, Y: y}, swatch)
		sheet.FillText(style, vg.Point{X: x + swatch + gap, Y: y - 3.2}, m.name)
		x += swatch + gap + style.Width(m.name) + 3*gap
	}
}

// plain is the text without what XML cannot hold or what would hide it; long texts are cut.
func plain(text string) string {
	const most = 140
	text = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
