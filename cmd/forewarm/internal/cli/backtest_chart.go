package cli

import (
	"io"
	"math"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/chart"
)

const (
	chartHeight = 10
	// mostColumns is how wide a chart is at most on a wide terminal.
	mostColumns = 140
)

// drawnModel is the model that is drawn: the best one, or else the best of the free.
func (r backtestReport) drawnModel() int {
	if model := r.best(false); model >= 0 {
		return model
	}
	return r.best(true)
}

// chart draws the last season that was judged: the highest value of the window ahead, and the quantile that was forecast
// of it.
func (r backtestReport) chart(out io.Writer) string {
	model := r.drawnModel()
	if model < 0 {
		return ""
	}
	width, color := cmdline.ColumnsAndColor(out, cmdline.Page)
	columns := chart.CurveColumns(width, mostColumns)
	track := r.track(model)
	from := r.lastSeason(len(track.Peak))
	came := columnMeans(track.Peak[from:], columns)
	quantile := columnMeans(track.PeakQuantile[verdictLevel][from:], columns)
	if len(came) < 2 {
		return ""
	}
	ahead, span := r.plan.span(r.plan.lead), r.plan.span((len(track.Peak)-from)*r.plan.stride)
	demand := "peak demand of the next " + history.FormatSpan(ahead) + ", over the last " + history.FormatSpan(span)
	by := "forecast of its 95 % quantile by " + r.played.models[model].name
	return chart.Curves(chart.Canvas{Height: chartHeight, Color: color, Level: threeDigits},
		chart.Curve{Name: by, Char: "+", Color: chart.Red, Values: quantile}, chart.Curve{Name: demand, Values: came})
}

// lastSeason is the first of so many origins that is drawn: a season before the last, or a tenth of them where a season
// has hardly any.
func (r backtestReport) lastSeason(origins int) int {
	const part, least = 10, 40
	drawn := r.plan.steps(r.plan.cycle) / r.plan.stride
	if drawn < least {
		drawn = max(origins/part, least)
	}
	return max(0, origins-drawn)
}

// columnMeans are values in so many columns at most, each the mean of what it stands for, NaN where that is nothing.
func columnMeans(values []float64, columns int) []float64 {
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
