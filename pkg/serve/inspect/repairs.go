package inspect

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/repair"
)

// atLeast says that the demand was no less than what is seen; else nothing is known of it.
func atLeast(r v1alpha1.Repair) bool { return r.Kind == repair.LowerBound.String() }

// band shades a time at which the demand was not simply what was read: with arrows up where it was no less than that,
// hatched where nothing is known, so that the two are told apart without their colours.
type band struct {
	from, to float64
	atLeast  bool
}

// addRepairs shades what lies in the panel.
func addRepairs(p *plot.Plot, a axis, repairs []v1alpha1.Repair) {
	for _, r := range repairs {
		b := band{from: max(a.at(r.From.Time), p.X.Min), to: min(a.at(r.To.Time), p.X.Max), atLeast: atLeast(r)}
		if b.from < b.to {
			p.Add(b)
		}
	}
}

// narrowest is how wide a band is at least, so that a minute of a day can be seen.
const narrowest vg.Length = 2.5

// Plot draws the band.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	left, right := x(b.from), x(b.to)
	right = max(right, left+narrowest)
	shade(c, vg.Rectangle{Min: vg.Point{X: left, Y: c.Min.Y}, Max: vg.Point{X: right, Y: c.Max.Y}}, b.atLeast)
}

// shade fills a box with the colour and the pattern of a repair.
func shade(c draw.Canvas, box vg.Rectangle, upward bool) {
	if upward {
		fill(c, box, boundPaper)
		arrows(c, box, boundInk)
		return
	}
	fill(c, box, maskedPaper)
	hatch(c, box, maskedInk)
}

func fill(c draw.Canvas, box vg.Rectangle, colour color.Color) {
	c.FillPolygon(colour, []vg.Point{
		box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y},
	})
}

// arrows point up along the top of the box.
func arrows(c draw.Canvas, box vg.Rectangle, colour color.Color) {
	const apart, size vg.Length = 14, 2.6
	width := box.Max.X - box.Min.X
	n := max(1, int(width/apart))
	style := draw.GlyphStyle{Color: colour, Radius: size, Shape: draw.PyramidGlyph{}}
	for i := range n {
		at := vg.Point{X: box.Min.X + width*(vg.Length(i)+0.5)/vg.Length(n), Y: box.Max.Y - 1.6*size}
		c.DrawGlyphNoClip(style, at)
	}
}

// hatch draws lines that rise by 45 degrees through the box.
func hatch(c draw.Canvas, box vg.Rectangle, colour color.Color) {
	const apart vg.Length = 7
	style := draw.LineStyle{Color: colour, Width: 0.6}
	width, height := box.Max.X-box.Min.X, box.Max.Y-box.Min.Y
	for at := apart/2 - height; at < width; at += apart {
		from, to := max(at, 0), min(at+height, width)
		c.StrokeLine2(style, box.Min.X+from, box.Min.Y+from-at, box.Min.X+to, box.Min.Y+to-at)
	}
}

// repairKeys are the rows of the legend, where there is something to name.
func repairKeys(repairs []v1alpha1.Repair) []mark {
	key := func(upward bool) func(draw.Canvas, vg.Point, vg.Length) {
		return func(c draw.Canvas, at vg.Point, width vg.Length) {
			shade(c, vg.Rectangle{
				Min: vg.Point{X: at.X, Y: at.Y - 4}, Max: vg.Point{X: at.X + width, Y: at.Y + 5},
			}, upward)
		}
	}
	bounds, masks := counted(repairs)
	var out []mark
	if bounds > 0 {
		out = append(out, mark{"at least (saturated)", key(true)})
	}
	if masks > 0 {
		out = append(out, mark{"masked", key(false)})
	}
	return out
}

func counted(repairs []v1alpha1.Repair) (bounds, masks int) {
	for _, r := range repairs {
		if atLeast(r) {
			bounds++
		} else {
			masks++
		}
	}
	return bounds, masks
}

// repairRow is a repair in words.
type repairRow struct{ When, Kind, Why string }

// mostRows of the newest are shown; the outlook has all of them.
const mostRows = 8

func repairRows(repairs []v1alpha1.Repair, step time.Duration) []repairRow {
	var out []repairRow
	for i := len(repairs) - 1; i >= max(0, len(repairs)-mostRows); i-- {
		r := repairs[i]
		kind := "masked"
		if atLeast(r) {
			kind = "at least what is seen"
		}
		out = append(out, repairRow{When: when(r, step), Kind: kind, Why: r.Why})
	}
	return out
}

// when is the time of a repair, and how many of its samples it is of where it is not all of them.
func when(r v1alpha1.Repair, step time.Duration) string {
	text := fmt.Sprintf("%s to %s UTC", r.From.UTC().Format("2 Jan 15:04:05"), r.To.UTC().Format("15:04:05"))
	if all := r.To.Sub(r.From.Time) / max(step, 1); all > time.Duration(r.Samples) {
		text += fmt.Sprintf(" (%d of %d samples)", r.Samples, all)
	}
	return text
}

// described is the bands for those who cannot see them.
func described(s *v1alpha1.OutlookStatus) string {
	rows := repairRows(s.Repairs, s.Step.Duration)
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = r.When + ": " + r.Kind + ", " + r.Why
	}
	return strings.Join(texts, "; ")
}
