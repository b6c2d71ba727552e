package backtestcmd

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/terminal"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// unknown stands for a figure that cannot be told.
const unknown = humanize.Unknown

// writeText tells it to people: the verdict, what was judged, the figures, a chart, and what else is to be known.
func (r report) writeText(out io.Writer) error {
	const minute = "2006-01-02 15:04"
	from, to := r.judged()
	fmt.Fprint(out, r.verdictLines(page))
	fmt.Fprintf(out, "\n%s.\n", r.history.About())
	fmt.Fprintf(out, "Judged are the forecasts of %s", history.Span(to.Sub(from)))
	if from.Year() > 1970 { //nolint:mnd // Times that count from 0 are no dates.
		fmt.Fprintf(out, ", %s to %s UTC", from.UTC().Format(minute), to.UTC().Format(minute))
	}
	fmt.Fprintln(out, "; models are fitted as the server fits them.")
	if err := r.writeTable(out); err != nil {
		return err
	}
	fmt.Fprint(out, legend)
	if chart := r.chart(out); chart != "" {
		fmt.Fprintf(terminal.Raw(out), "\n%s\n", chart) // Its colours are ours, and so is all of its text.
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
MAE, MASE: how far the forecast was from the value that came so much later, in the demand's unit and in errors of
repeating the last season. LOSS: of the 95 % quantile of the highest value until then (pinball, less is better).
OF LAST: each as a share of the last value's. HELD: how often each quantile of that highest value held.
`

func (r report) writeTable(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(horizon, name string, cells ...string) {
		// Names stand on the left of a cell of one width, figures on the right.
		fmt.Fprintf(table, "%-8s%-20s\t%s\t\n", horizon, name, strings.Join(cells, "\t"))
	}
	fmt.Fprintln(table)
	line("HORIZON", "MODEL", "MAE", "OF LAST", "MASE", "LOSS", "OF LAST", "HELD 50%", "90%", "95%", "99%")
	for h := range r.plan.horizons {
		horizon := short(r.plan.span(r.plan.horizons[h]))
		for _, model := range r.ranked(h) {
			s, _ := r.at(model, h)
			name := r.played.models[model].name
			if r.played.models[model].free {
				name += " (free)"
			}
			mae, loss := r.ofLast(model, h)
			lost := figure(s.loss[verdictLevel])
			cells := []string{figure(s.mae), humanize.Percent(mae), figure(s.mase), lost, humanize.Percent(loss)}
			for _, coverage := range s.coverage[median:] {
				cells = append(cells, humanize.Percent(coverage))
			}
			line(horizon, name, cells...)
			horizon = ""
		}
	}
	return table.Flush()
}

// figure has three digits.
func figure(v float64) string {
	const digits, thousand = 3, 1000
	switch {
	case math.IsNaN(v):
		return unknown
	case v >= thousand:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}
