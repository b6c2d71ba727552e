package inspect

import (
	"image/color"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

// point is a mark; its Y is NaN where there is no value.
func (a axis) point(at time.Time, value *float64) plotter.XY {
	if value == nil {
		return plotter.XY{X: a.at(at), Y: math.NaN()}
	}
	return plotter.XY{X: a.at(at), Y: *value}
}

// recent is the observed demand, ending in the newest sample.
func (a axis) recent(s *v1alpha1.OutlookStatus) plotter.XYs {
	out := make(plotter.XYs, 0, len(s.Recent)+1)
	for _, sample := range s.Recent {
		out = append(out, a.point(sample.Time.Time, sample.Observed))
	}
	if s.SampleTime != nil && s.Observed != nil {
		newest := a.point(s.SampleTime.Time, s.Observed)
		if n := len(out); n == 0 || newest.X > out[n-1].X {
			out = append(out, newest)
		}
	}
	return out
}

// addRuns draws a line that breaks where Y is NaN; a point that stands alone becomes a dot. What lies outside the
// panel is clipped, with its ends cut on the border.
func addRuns(p *plot.Plot, points plotter.XYs, style draw.LineStyle) error {
	for _, run := range runs(clip(points, p.X.Min, p.X.Max)) {
		if len(run) == 1 {
			if err := addDots(p, run, dot(style.Color, 1.8*style.Width)); err != nil {
				return err
			}
			continue
		}
		line, err := plotter.NewLine(run)
		if err != nil {
			return err
		}
		line.LineStyle = style
		p.Add(line)
	}
	return nil
}

// clip cuts a line that ascends in X to [from, to].
func clip(points plotter.XYs, from, to float64) plotter.XYs {
	out := make(plotter.XYs, 0, len(points))
	for i, at := range points {
		if at.X >= from && at.X <= to {
			if i > 0 && points[i-1].X < from {
				out = append(out, between(points[i-1], at, from))
			}
			out = append(out, at)
		} else if at.X > to && i > 0 && points[i-1].X >= from && points[i-1].X < to {
			out = append(out, between(points[i-1], at, to))
		}
	}
	return out
}

func between(a, b plotter.XY, x float64) plotter.XY {
	return plotter.XY{X: x, Y: a.Y + (b.Y-a.Y)*(x-a.X)/(b.X-a.X)}
}

// runs are the stretches without NaN.
func runs(points plotter.XYs) []plotter.XYs {
	var out []plotter.XYs
	from := 0
	for i := range len(points) + 1 {
		if i < len(points) && !math.IsNaN(points[i].Y) {
			continue
		}
		if i > from {
			out = append(out, points[from:i])
		}
		from = i + 1
	}
	return out
}

func addDots(p *plot.Plot, points plotter.XYs, style draw.GlyphStyle) error {
	if len(points) == 0 {
		return nil
	}
	dots, err := plotter.NewScatter(clip(points, p.X.Min, p.X.Max))
	if err != nil {
		return err
	}
	dots.GlyphStyle = style
	p.Add(dots)
	return nil
}

// addFan fills from the median to the upper quantiles, the near one darker, and draws the mean over it.
func addFan(p *plot.Plot, a axis, path []v1alpha1.PathStep) error {
	quantile := func(level string) plotter.XYs {
		var out plotter.XYs
		for _, step := range path {
			if v, ok := step.Quantiles[level]; ok {
				out = append(out, plotter.XY{X: a.at(step.Time.Time), Y: math.Max(v, 0)})
			}
		}
		return out
	}
	low := quantile("0.5")
	for _, band := range []struct {
		top plotter.XYs
		ink color.Color
	}{{quantile("0.95"), fanOuter}, {quantile("0.8"), fanInner}} {
		if err := addBand(p, low, band.top, band.ink); err != nil {
			return err
		}
	}
	points := make(plotter.XYs, 0, len(path))
	for _, step := range path {
		points = append(points, a.point(step.Time.Time, step.Point))
	}
	return addRuns(p, points, expectedLine())
}

func addBand(p *plot.Plot, low, high plotter.XYs, ink color.Color) error {
	if len(low) < 2 || len(low) != len(high) {
		return nil
	}
	ring := append(plotter.XYs{}, low...)
	for _, point := range slices.Backward(high) {
		ring = append(ring, point)
	}
	band, err := plotter.NewPolygon(ring)
	if err != nil {
		return err
	}
	band.Color = ink
	band.LineStyle.Width = 0
	p.Add(band)
	return nil
}

// addNow draws the moment between past and future.
func addNow(p *plot.Plot, top float64) error {
	line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: 0, Y: top}})
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: soft, Width: 0.9, Dashes: []vg.Length{3, 3}}
	p.Add(line)
	return nil
}

// addServed draws the value served over its window, with its number.
func addServed(p *plot.Plot, s *v1alpha1.OutlookStatus) error {
	if s.Served == nil {
		return nil
	}
	line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: *s.Served}, {X: s.Window.Duration.Seconds(), Y: *s.Served}})
	if err != nil {
		return err
	}
	line.LineStyle = servedLine()
	p.Add(line, note{at: plotter.XY{X: 0, Y: *s.Served}, text: number(s.Served)})
	return nil
}

// note is a number just above the line that it belongs to.
type note struct {
	at   plotter.XY
	text string
}

// Plot draws the note.
func (n note) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := bold(11)
	style.Color = served
	c.FillText(style, vg.Point{X: x(n.at.X) + 4, Y: y(n.at.Y) + 4.5}, n.text)
}
