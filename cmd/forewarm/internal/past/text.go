package past

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/terminal"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

const legend = `
RECORDED is what Forewarm's own gauges say was served and done then. TODAY'S SPEC is what the spec, the autoscalers and the
lead time of now would have served, replayed on the history until then.
`

// WriteText writes a chart if there are several moments, a table of a dozen of them, and the reason if there is one alone.
func (p *Past) WriteText(out io.Writer) error {
	const lines = 12
	n := len(p.Moments)
	fmt.Fprintf(out, "Forecast %s (UTC)\n\n", p.Forecast)
	if n > 1 {
		fmt.Fprintf(terminal.Raw(out), "%s\n\n", p.chart(out)) // Its colours and texts are our own.
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(
		table,
		"\tRECORDED\t\t\t\tTODAY'S SPEC\t\t\nTIME\tOBSERVED\tSERVED\tWANTED\tREADY\tOBSERVED\tSERVED\tSTATE",
	)
	number := func(v *float64) string { return humanize.Optional(v, humanize.Number) }
	for i := 0; i < n; i += max(1, n/lines) {
		was, now := &p.Moments[i].Recorded, &p.Moments[i].TodaysSpec
		fmt.Fprintf(
			table,
			"%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			p.Moments[i].Time.Format(time.DateTime),
			number(was.Observed),
			number(
				was.Served,
			),
			number(was.Wanted),
			number(was.Ready),
			number(now.Observed),
			number(now.Served),
			now.State,
		)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if n == 1 {
		fmt.Fprintf(out, "\nWhy, by today's spec: %s.\n", p.Moments[0].TodaysSpec.Reason)
	}
	for _, note := range p.Notes {
		fmt.Fprintf(out, "\n%s\n", note)
	}
	fmt.Fprint(out, legend)
	return nil
}

// chart draws what was observed and served, and what would have been served.
func (p *Past) chart(out io.Writer) string {
	const page, most, height = 100, 160, 14
	width, color := terminal.ColumnsAndColor(out, page)
	values := make([][]float64, 3)
	columns, n := chart.CurveColumns(width, most), len(p.Moments)
	for i := range columns {
		m := &p.Moments[i*n/columns]
		for j, v := range []*float64{m.TodaysSpec.Served, m.Recorded.Served, m.TodaysSpec.Observed} {
			values[j] = append(values[j], math.NaN())
			if v != nil {
				values[j][i] = *v
			}
		}
	}
	from := p.Moments[0].Time
	on := chart.Canvas{
		Height: height, Color: color, Level: humanize.Number, Width: p.Moments[n-1].Time.Sub(from).Seconds(),
		Label: func(s float64) string { return from.Add(time.Duration(s * float64(time.Second))).Format("Mon 15:04") },
	}
	return chart.Curves(
		on,
		chart.Curve{Name: "served by today's spec", Char: "•", Color: chart.Blue, Values: values[0]},
		chart.Curve{Name: "served, recorded", Char: "=", Color: chart.Red, Values: values[1]},
		chart.Curve{Name: "observed", Values: values[2]},
	)
}
