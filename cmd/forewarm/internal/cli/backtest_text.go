package cli

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
)

// unknown stands for a figure that is not known.
const unknown = humanize.Unknown

// writeText writes the report as text: the verdict, what was judged, the table, a chart and the notes.
func (r backtestReport) writeText(out io.Writer) {
	const minute = "2006-01-02 15:04"
	from, to := r.judged()
	fmt.Fprint(out, r.verdictLines(cmdline.Page))
	fmt.Fprintf(out, "\n%s.\n", r.history.Describe())
	fmt.Fprintf(out, "Judged: the forecasts of %s", history.FormatSpan(to.Sub(from)))
	if from.Year() > 1970 { //nolint:mnd // Times that count from 0 are no dates.
		fmt.Fprintf(out, ", %s to %s UTC", from.UTC().Format(minute), to.UTC().Format(minute))
	}
	fmt.Fprintln(out, ". Models are fitted as in the server.")
	fmt.Fprintf(out, "\n%s%s", r.table(), legend)
	if drawn := r.chart(out); drawn != "" {
		fmt.Fprintf(cmdline.Raw(out), "\n%s\n", drawn) // Its colours are ours, and so is all of its text.
	}
	if notes := r.notes(); len(notes) > 0 {
		fmt.Fprintln(out, "\nNotes:")
		for _, note := range notes {
			fmt.Fprintf(out, "- %s\n", note)
		}
	}
}

const legend = `
MAE, MASE: error of the point forecast, in the demand's unit and relative to repeating the last season.
LOSS: pinball loss of the 95 % quantile of the peak until the horizon; lower is better. COVERAGE: how often each
quantile of that peak was not exceeded. SKILL: the share by which the figure to its left is below the last value's.
`

// table has the models' names on the left and figures on the right.
func (r backtestReport) table() string {
	name := func(horizon, model string) string { return fmt.Sprintf("  %-8s%-22s", horizon, model) }
	lines := [][]string{{
		name("HORIZON", "MODEL"), "MAE", "SKILL", "MASE", "LOSS", "SKILL", "COVERAGE 50%", "90%", "95%", "99%",
	}}
	for h := range r.plan.horizons {
		horizon := formatDuration(r.plan.span(r.plan.horizons[h]))
		for _, model := range r.ranked(h) {
			s, _ := r.scoreOf(model, h)
			title := r.played.models[model].name
			if r.played.models[model].baseline {
				title += " (baseline)"
			}
			mae, loss := r.relativeToLast(model, h)
			lost := threeDigits(s.loss[verdictLevel])
			line := []string{
				name(horizon, title), threeDigits(s.mae), skill(mae), threeDigits(s.mase), lost, skill(loss),
			}
			for _, coverage := range s.coverage[median:] {
				line = append(line, humanize.Percent(coverage))
			}
			lines, horizon = append(lines, line), ""
		}
	}
	return printable.Table(lines, 1, 2) //nolint:mnd // Apart.
}

// skill is 1 less a ratio to the last value's error: above 0 is better than the last value.
func skill(ratio float64) string {
	text := humanize.Percent(1 - ratio)
	if text == "-0.0%" {
		return "0.0%"
	}
	return text
}

// threeDigits formats a figure with three digits.
func threeDigits(v float64) string {
	const digits, thousand = 3, 1000
	switch {
	case math.IsNaN(v):
		return unknown
	case v >= thousand:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

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
