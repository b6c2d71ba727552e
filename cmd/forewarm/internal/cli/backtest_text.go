package cli

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
)

// unknown stands for a figure that is not known.
const unknown = humanize.Unknown

// writeText writes the report as text: the verdict, what was judged, the table, a chart and the notes.
func (r backtestReport) writeText(out io.Writer) error {
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
	if chart := r.chart(out); chart != "" {
		fmt.Fprintf(cmdline.Raw(out), "\n%s\n", chart) // Its colours are ours, and so is all of its text.
	}
	if notes := r.notes(); len(notes) > 0 {
		fmt.Fprintln(out, "\nNotes:")
		for _, note := range notes {
			fmt.Fprintf(out, "- %s\n", note)
		}
	}
	return nil
}

const legend = `
MAE, MASE: error of the point forecast, in the demand's unit and relative to repeating the last season.
LOSS: pinball loss of the 95 % quantile of the peak until the horizon; lower is better. COVERAGE: how often each
quantile of that peak was not exceeded. SKILL: the share by which the figure to its left is below the last value's.
`

// table has the models' names on the left and figures on the right.
func (r backtestReport) table() string {
	name := func(horizon, model string) string { return fmt.Sprintf("%-8s%-22s", horizon, model) }
	lines := [][]string{{name("HORIZON", "MODEL"), "MAE", "SKILL", "MASE", "LOSS", "SKILL", "COVERAGE 50%", "90%", "95%", "99%"}}
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
