package backtestcmd

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/guptarohit/asciigraph"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/terminal"
)

const (
	chartHeight = 10
	// axisWidth is what the numbers of the vertical axis take.
	axisWidth = 12
	// page is the width where there is no terminal; the chart is no wider than mostColumns.
	page, leastColumns, mostColumns = 100, 40, 140
)

// shown is the model that is drawn: the best one, or else the best of the free.
func (r report) shown() int {
	if model := r.best(false); model >= 0 {
		return model
	}
	return r.best(true)
}

// chart draws the last season that was judged: the highest value of the window ahead, and the quantile that was forecast
// of it.
func (r report) chart(out io.Writer) string {
	model := r.shown()
	if model < 0 {
		return ""
	}
	columns, color := canvas(out)
	track := r.track(model)
	from := r.lastSeason(len(track.Highest))
	came := squeezed(track.Highest[from:], columns)
	quantile := squeezed(track.HighestQuantile[verdictLevel][from:], columns)
	if len(came) < 2 || allNaN(came) || allNaN(quantile) {
		return ""
	}
	options := []asciigraph.Option{
		asciigraph.Height(chartHeight), asciigraph.LowerBound(0),
		asciigraph.SeriesChars(asciigraph.CreateCharSet("+"), asciigraph.DefaultCharSet),
		asciigraph.YAxisValueFormatter(rounded),
	}
	if color {
		options = append(options, asciigraph.SeriesColors(asciigraph.Red, asciigraph.Default))
	}
	span := r.plan.span((len(track.Highest) - from) * r.plan.stride)
	return asciigraph.PlotMany([][]float64{quantile, came}, options...) + fmt.Sprintf(
		"\n   ─ highest demand of the next %s, over the last %s   + its 95 %% quantile by %s",
		history.Span(r.plan.span(r.plan.lead)), history.Span(span), r.played.models[model].name)
}

// lastSeason is the first of so many origins that is drawn: a season before the last, or a tenth of them where a season
// has hardly any.
func (r report) lastSeason(origins int) int {
	const part, least = 10, 40
	drawn := r.plan.steps(r.plan.cycle) / r.plan.stride
	if drawn < least {
		drawn = max(origins/part, least)
	}
	return max(0, origins-drawn)
}

// canvas is the width of a chart, and whether it may have colours.
func canvas(out io.Writer) (columns int, color bool) {
	width, is := terminal.Columns(out, page)
	return min(mostColumns, max(leastColumns, width-axisWidth)), is && os.Getenv("NO_COLOR") == ""
}

// rounded labels the vertical axis; its zero comes as the rest of a subtraction.
func rounded(y float64) string {
	const least = 1e-9
	if math.Abs(y) < least {
		y = 0
	}
	return figure(y)
}

// squeezed are values in so many columns at most, each the mean of what it stands for, NaN where that is nothing.
func squeezed(values []float64, columns int) []float64 {
	columns = min(columns, len(values))
	out := make([]float64, columns)
	for c := range out {
		sum, n := 0.0, 0.0
		for _, v := range values[c*len(values)/columns : (c+1)*len(values)/columns] {
			if !math.IsNaN(v) {
				sum += v
				n++
			}
		}
		out[c] = sum / n
	}
	return out
}

func allNaN(values []float64) bool {
	for _, v := range values {
		if !math.IsNaN(v) {
			return false
		}
	}
	return true
}
