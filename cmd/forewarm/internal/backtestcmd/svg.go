package backtestcmd

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/chart"
)

// The sheet in pixels: a heading, what was forecast beside what came, and the loss by horizon below it.
const (
	sheetWidth, panelWidth, inset = 1120, 1120 - 2*inset, 20
	upperTall, lowerTall          = 380, 260
)

// svg is the backtest as a picture.
func (r report) svg() ([]byte, error) {
	// letters is how many of the heading's stand in a line.
	const letters, lineHeight = 168, 20
	sheet := chart.Sheet{Width: sheetWidth, Title: "Backtest of " + r.history.Source + ": " + r.verdict()}
	y := 32.0
	for line := range strings.Lines(r.verdictLines(letters)) {
		sheet.Text("words", inset, y, strings.TrimSpace(line))
		y += lineHeight
	}
	add := func(heading string, c *chart.Chart, keys []chart.Key) {
		sheet.Text("heading", inset, y+24, heading)
		sheet.Legend(inset, y+48, keys...)
		sheet.Chart(inset, y+56, panelWidth, c)
		y += 56 + c.Height()
	}
	if model := r.shown(); model >= 0 {
		ahead, name := history.Span(r.plan.span(r.plan.lead)), r.played.models[model].name
		add("The highest demand of the next "+ahead+", and what "+name+" forecast of it", r.beside(model), []chart.Key{
			chart.AreaKey("band", "5 to 99 % quantile"), chart.LineKey("median", "median forecast"),
			chart.LineKey("actual", "what came"),
		})
	}
	byHorizon, keys := r.byHorizon()
	const byHorizonIs = "Loss of the 95 % quantile by horizon: below 1 is better than the last value, which costs nothing"
	add(byHorizonIs, byHorizon, keys)
	sheet.Height = y + inset
	return sheet.SVG()
}

// beside is the end of what was judged: the highest demand of the window ahead, the band in which it was forecast, and its
// middle.
func (r report) beside(model int) *chart.Chart {
	track := r.track(model)
	from := r.lastSeason(len(track.Highest))
	line := func(values []float64) []chart.Point {
		out := make([]chart.Point, 0, len(values)-from)
		for i := from; i < len(values); i++ {
			out = append(out, chart.Point{X: r.origin(i).Sub(r.origin(from)).Seconds(), Y: values[i]})
		}
		return out
	}
	came, middle := line(track.Highest), line(track.HighestQuantile[median])
	low, high := line(track.HighestQuantile[lowest]), line(track.HighestQuantile[highest])
	c := &chart.Chart{
		X: chart.Times(r.origin(from), 0, came[len(came)-1].X), Y: chart.Numbers(0, 1.05*chart.Highest(came, high)),
		Tall: upperTall, Across: panelWidth, Up: upperTall,
	}
	c.X.Label, c.Y.Label = "time of the forecast (UTC)", "demand"
	c.Area("band", low, high)
	c.Line("median", middle...)
	c.Line("actual", came...)
	return c
}

// origin is the time of one.
func (r report) origin(origin int) time.Time {
	return r.plan.series.TimeAt(r.plan.first + origin*r.plan.stride)
}

// byHorizon is the loss of each model by horizon, as a share of the last value's.
func (r report) byHorizon() (*chart.Chart, []chart.Key) {
	// Beyond most a line leaves the panel; colours is how many the style sheet has for models.
	const most, air, colours = 1.5, 0.04, 9
	lines, keys := make([][]chart.Point, len(r.played.models)), make([]chart.Key, len(r.played.models))
	classes := make([]string, len(lines))
	bottom, top := 1.0, 1.0
	for i, m := range r.played.models {
		for h := range r.plan.horizons {
			if _, loss := r.ofLast(i, h); !math.IsNaN(loss) {
				lines[i] = append(lines[i], chart.Point{X: float64(h), Y: loss})
				bottom, top = min(bottom, loss), max(top, loss)
			}
		}
		classes[i] = "model c" + strconv.Itoa(i%colours)
		if m.free {
			classes[i] += " free"
		}
		keys[i] = chart.LineKey(classes[i], m.name)
	}
	last := float64(max(1, len(r.plan.horizons)-1))
	c := &chart.Chart{
		X: chart.Axis{
			From: -air * last,
			To:   (1 + air) * last,
		},
		Y:      chart.Numbers(max(0, bottom-air), min(most, top+air)),
		Tall:   lowerTall,
		Across: panelWidth,
		Up:     lowerTall,
	}
	for i, h := range r.plan.horizons {
		c.X.Ticks = append(c.X.Ticks, chart.Tick{Value: float64(i), Label: short(r.plan.span(h))})
	}
	c.X.Label, c.Y.Label = "how far ahead", "share of the last value's loss"
	for i, line := range lines {
		c.Line(classes[i], line...)
	}
	return c, keys
}
