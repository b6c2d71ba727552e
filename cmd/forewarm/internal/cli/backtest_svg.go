package cli

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
func (r backtestReport) svg() ([]byte, error) {
	// letters is how many of the heading's stand in a line.
	const letters, lineHeight = 168, 20
	sheet := chart.Sheet{Width: sheetWidth, Title: "Backtest of " + r.history.Source + ": " + r.headline()}
	y := 32.0
	for line := range strings.Lines(r.verdictLines(letters)) {
		sheet.Text("words", inset, y, strings.TrimSpace(line))
		y += lineHeight
	}
	add := func(heading string, c *chart.Chart, keys []chart.LegendKey) {
		sheet.Text("heading", inset, y+24, heading)
		sheet.Legend(inset, y+48, keys...)
		sheet.Chart(inset, y+56, panelWidth, c)
		y += 56 + c.Height()
	}
	if model := r.drawnModel(); model >= 0 {
		ahead, name := history.FormatSpan(r.plan.span(r.plan.lead)), r.played.models[model].name
		add("Peak demand of the next "+ahead+", and its forecast by "+name, r.forecastChart(model), []chart.LegendKey{
			chart.AreaKey("band", "5 to 99 % quantile"), chart.LineKey("median", "median forecast"),
			chart.LineKey("actual", "actual"),
		})
	}
	byHorizon, keys := r.lossChart()
	const byHorizonIs = "Pinball loss of the 95 % quantile by horizon, relative to the last value's; below 1 is better"
	add(byHorizonIs, byHorizon, keys)
	sheet.Height = y + inset
	return sheet.SVG()
}

// forecastChart is the end of what was judged: the highest demand of the window ahead, the band in which it was forecast, and its
// middle.
func (r backtestReport) forecastChart(model int) *chart.Chart {
	track := r.track(model)
	from := r.lastSeason(len(track.Peak))
	line := func(values []float64) []chart.Point {
		out := make([]chart.Point, 0, len(values)-from)
		for i := from; i < len(values); i++ {
			out = append(out, chart.Point{X: r.origin(i).Sub(r.origin(from)).Seconds(), Y: values[i]})
		}
		return out
	}
	came, middle := line(track.Peak), line(track.PeakQuantile[median])
	low, high := line(track.PeakQuantile[lowest]), line(track.PeakQuantile[highest])
	c := &chart.Chart{
		X: chart.TimeAxis(r.origin(from), 0, came[len(came)-1].X),
		Y: chart.NumberAxis(0, 1.05*chart.Highest(came, high)), Tall: upperTall, Across: panelWidth, Up: upperTall,
	}
	c.X.Label, c.Y.Label = "time of the forecast (UTC)", "demand"
	c.Area("band", low, high)
	c.Line("median", middle...)
	c.Line("actual", came...)
	return c
}

// origin is the time of one.
func (r backtestReport) origin(origin int) time.Time {
	return r.plan.series.TimeAt(r.plan.first + origin*r.plan.stride)
}

// lossChart is the loss of each model by horizon, as a share of the last value's.
func (r backtestReport) lossChart() (*chart.Chart, []chart.LegendKey) {
	// Beyond most a line leaves the panel; colours is how many the style sheet has for models.
	const most, air, colours = 1.5, 0.04, 9
	lines, keys := make([][]chart.Point, len(r.played.models)), make([]chart.LegendKey, len(r.played.models))
	classes := make([]string, len(lines))
	bottom, top := 1.0, 1.0
	for i, m := range r.played.models {
		for h := range r.plan.horizons {
			if _, loss := r.relativeToLast(i, h); !math.IsNaN(loss) {
				lines[i] = append(lines[i], chart.Point{X: float64(h), Y: loss})
				bottom, top = min(bottom, loss), max(top, loss)
			}
		}
		classes[i] = "model c" + strconv.Itoa(i%colours)
		if m.baseline {
			classes[i] += " free"
		}
		keys[i] = chart.LineKey(classes[i], m.name)
	}
	last := float64(max(1, len(r.plan.horizons)-1))
	c := &chart.Chart{
		X: chart.Axis{From: -air * last, To: (1 + air) * last},
		Y: chart.NumberAxis(max(0, bottom-air), min(most, top+air)), Tall: lowerTall, Across: panelWidth,
		Up: lowerTall,
	}
	for i, h := range r.plan.horizons {
		c.X.Ticks = append(c.X.Ticks, chart.Tick{Value: float64(i), Label: formatDuration(r.plan.span(h))})
	}
	c.X.Label, c.Y.Label = "horizon", "loss over the last value's"
	for i, line := range lines {
		c.Line(classes[i], line...)
	}
	return c, keys
}
