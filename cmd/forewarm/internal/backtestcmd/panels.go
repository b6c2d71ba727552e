package backtestcmd

import (
	"image/color"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
)

type colour = color.NRGBA

//nolint:gochecknoglobals // Constant colours; those of lines are told apart by people who see few of them, too.
var (
	paper = colour{R: 255, G: 255, B: 255, A: 255}
	ink   = colour{R: 34, G: 38, B: 46, A: 255}
	soft  = colour{R: 98, G: 106, B: 120, A: 255}
	faint = colour{R: 226, G: 229, B: 234, A: 255}
	band  = colour{R: 0, G: 114, B: 178, A: 48}
	blue  = colour{R: 0, G: 114, B: 178, A: 255}
	lines = []colour{
		{R: 0, G: 114, B: 178, A: 255},
		{R: 213, G: 94, B: 0, A: 255},
		{R: 0, G: 158, B: 115, A: 255},
		{R: 204, G: 121, B: 167, A: 255},
		{R: 230, G: 159, B: 0, A: 255},
		{R: 86, G: 180, B: 233, A: 255},
		{R: 120, G: 94, B: 60, A: 255},
		{R: 40, G: 40, B: 40, A: 255},
		{R: 150, G: 150, B: 150, A: 255},
	}
)

// besidePanel is the end of what was judged: the highest demand of the window ahead, the band in which it was forecast,
// and its middle.
func (r report) besidePanel() (*plot.Plot, error) {
	p := panel()
	model := r.shown()
	if model < 0 {
		return p, nil
	}
	track := r.track(model)
	from := r.lastSeason(len(track.Highest))
	low, high := r.points(track.HighestQuantile[lowest], from), r.points(track.HighestQuantile[highest], from)
	came, middle := r.points(track.Highest, from), r.points(track.HighestQuantile[median], from)
	p.Title.Text = "The highest demand of the next " + history.Span(r.plan.span(r.plan.lead)) +
		", and what " + r.played.models[model].name + " forecast of it"
	p.X.Label.Text, p.Y.Label.Text = "time of the forecast (UTC)", "demand"
	p.X.Tick.Marker = clock{}
	for _, piece := range bands(low, high) {
		area, err := plotter.NewPolygon(piece)
		if err != nil {
			return nil, err
		}
		area.Color, area.LineStyle.Width = band, 0
		p.Add(area)
	}
	p.Legend.Add("5 to 99 % quantile", swatch{band})
	if err := addLine(p, "median forecast", middle, stroke(blue, 1)); err != nil {
		return nil, err
	}
	if err := addLine(p, "what came", came, stroke(ink, 1)); err != nil {
		return nil, err
	}
	const room = 1.12 // The legend stands above the lines.
	p.Y.Min, p.Y.Max = 0, room*p.Y.Max
	return p, nil
}

// horizonPanel is the loss of each model by horizon, as a share of the last value's.
func (r report) horizonPanel() (*plot.Plot, error) {
	// Beyond most a line leaves the panel; room is for the legend beside the lines, as a share of their width.
	const most, room, air = 1.5, 0.16, 0.04
	p := panel()
	p.Title.Text = "Loss of the 95 % quantile by horizon: below 1 is better than the last value, which costs nothing"
	p.X.Label.Text, p.Y.Label.Text = "how far ahead", "share of the last value's loss"
	p.X.Tick.Marker = r.horizonTicks()
	bottom, top := 1.0, 1.0
	for i, m := range r.played.models {
		var points plotter.XYs
		for h := range r.plan.horizons {
			if _, loss := r.ofLast(i, h); !math.IsNaN(loss) {
				points = append(points, plotter.XY{X: float64(h), Y: loss})
				bottom, top = math.Min(bottom, loss), math.Max(top, loss)
			}
		}
		style := stroke(lines[i%len(lines)], 1.6)
		if m.free {
			style.Dashes = []vg.Length{4, 3}
		}
		if err := addLine(p, m.name, points, style); err != nil {
			return nil, err
		}
	}
	p.X.Min, p.X.Max = 0, (1+room)*float64(max(1, len(r.plan.horizons)-1))
	p.Y.Min, p.Y.Max = math.Max(0, bottom-air), math.Min(most, top+air)
	return p, nil
}

func (r report) horizonTicks() plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, h := range r.plan.horizons {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: short(r.plan.span(h))})
	}
	return ticks
}

// points are values of a track at the times of their origins; NaN is kept.
func (r report) points(values []float64, from int) plotter.XYs {
	out := make(plotter.XYs, 0, len(values)-from)
	for i := from; i < len(values); i++ {
		at := r.plan.series.TimeAt(r.plan.first + i*r.plan.stride)
		out = append(out, plotter.XY{X: float64(at.Unix()), Y: values[i]})
	}
	return out
}

// runs are the stretches of points without a gap.
func runs(points plotter.XYs) []plotter.XYs {
	var out []plotter.XYs
	begin := 0
	for i := 0; i <= len(points); i++ {
		if i < len(points) && !math.IsNaN(points[i].Y) {
			continue
		}
		if i > begin {
			out = append(out, points[begin:i])
		}
		begin = i + 1
	}
	return out
}

// bands are the outlines between two lines, where both are known.
func bands(low, high plotter.XYs) []plotter.XYs {
	both := append(plotter.XYs(nil), low...)
	for i := range both {
		both[i].Y += 0 * high[i].Y // NaN where either is.
	}
	var out []plotter.XYs
	for _, run := range runs(both) {
		begin := int((run[0].X - low[0].X) / spacing(low))
		outline := append(plotter.XYs(nil), run...)
		for i := range slices.Backward(run) {
			outline = append(outline, high[begin+i])
		}
		out = append(out, outline)
	}
	return out
}

// spacing is the distance between two points of a track.
func spacing(points plotter.XYs) float64 {
	if len(points) < 2 {
		return 1
	}
	return points[1].X - points[0].X
}

func panel() *plot.Plot {
	p := plot.New()
	p.Title.TextStyle, p.Title.Padding = text(12, ink), 8
	p.Title.TextStyle.XAlign = draw.XCenter
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Color, axis.Tick.Label.Color, axis.Color, axis.Tick.Color = soft, soft, soft, soft
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = text(10, soft).Font, text(9.5, soft).Font
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = nil, faint
	p.Add(grid)
	p.Legend.TextStyle.Font, p.Legend.TextStyle.Color = text(9.5, soft).Font, soft
	p.Legend.Top, p.Legend.Padding = true, 2
	return p
}

func stroke(c colour, width vg.Length) draw.LineStyle { return draw.LineStyle{Color: c, Width: width} }

// addLine draws the stretches without a gap, named once.
func addLine(p *plot.Plot, name string, points plotter.XYs, style draw.LineStyle) error {
	for i, run := range runs(points) {
		line, err := plotter.NewLine(run)
		if err != nil {
			return err
		}
		line.LineStyle = style
		p.Add(line)
		if i == 0 {
			p.Legend.Add(name, line)
		}
	}
	return nil
}

// swatch is a patch of a colour in the legend.
type swatch struct{ colour colour }

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.colour, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
}

// clock ticks at round times of the day, eight times at most.
type clock struct{}

// Ticks implements plot.Ticker on seconds since the epoch.
func (clock) Ticks(from, to float64) []plot.Tick {
	const most = 8
	every := 60.0
	for _, minutes := range []float64{5, 15, 30, 60, 180, 360, 720, 1440, 2880, 7 * 1440, 28 * 1440} {
		if (to-from)/every > most {
			every = 60 * minutes
		}
	}
	var ticks []plot.Tick
	for at := math.Ceil(from/every) * every; at <= to; at += every {
		t := time.Unix(int64(at), 0).UTC()
		label := t.Format("15:04")
		if t.Hour() == 0 && t.Minute() == 0 {
			label = t.Format("Jan 2")
		}
		ticks = append(ticks, plot.Tick{Value: at, Label: label})
	}
	return ticks
}
