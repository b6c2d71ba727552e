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

const minute = "2006-01-02 15:04:05"

// WriteText writes the first moment as a table.
func (p *Past) WriteText(out io.Writer) error {
	m := &p.Moments[0]
	fmt.Fprintf(out, "Forecast %s at %s UTC\n\n", p.Forecast, m.Time.Format(minute))
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "\tRECORDED\tTODAY'S SPEC\nobserved\t%s\t%s\nserved\t%s\t%s\nreplicas wanted\t%s\t\nreplicas ready\t%s\t\nstate\t\t%s\nmodel\t\t%s\n",
		number(m.Recorded.Observed), number(m.TodaysSpec.Observed), number(m.Recorded.Served), number(m.TodaysSpec.Served),
		number(m.Recorded.Wanted), number(m.Recorded.Ready), m.TodaysSpec.State, m.TodaysSpec.Model)
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nToday's spec: %s.\n", m.TodaysSpec.Reason)
	p.writeNotes(out)
	return nil
}

// WriteChart writes all moments: a chart, and a short table.
func (p *Past) WriteChart(out io.Writer) error {
	const page, most, height, lines = 100, 160, 14, 12
	width, color := terminal.ColumnsAndColor(out, page)
	columns := chart.CurveColumns(width, most)
	n := len(p.Moments)
	line := func(part func(*Moment) *float64) []float64 {
		values := make([]float64, columns)
		for i := range values {
			if values[i] = math.NaN(); part(&p.Moments[i*n/columns]) != nil {
				values[i] = *part(&p.Moments[i*n/columns])
			}
		}
		return values
	}
	from := p.Moments[0].Time
	on := chart.Canvas{
		Height: height, Color: color, Level: humanize.Number, Width: p.Moments[n-1].Time.Sub(from).Seconds(),
		Label: func(s float64) string { return from.Add(time.Duration(s * float64(time.Second))).Format("15:04") },
	}
	drawn := chart.Curves(on,
		chart.Curve{Name: "served by today's spec", Char: "•", Color: chart.Blue, Values: line(func(m *Moment) *float64 { return m.TodaysSpec.Served })},
		chart.Curve{Name: "served, recorded", Char: "=", Color: chart.Red, Values: line(func(m *Moment) *float64 { return m.Recorded.Served })},
		chart.Curve{Name: "observed", Values: line(func(m *Moment) *float64 { return m.TodaysSpec.Observed })})
	fmt.Fprintf(out, "Forecast %s, %s to %s UTC\n", p.Forecast, from.Format(minute), p.Moments[n-1].Time.Format(minute))
	fmt.Fprintf(terminal.Raw(out), "\n%s\n\n", drawn) // Its colours and texts are our own.
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\tRECORDED\t\t\t\tTODAY'S SPEC\t\t\nTIME\tOBSERVED\tSERVED\tWANTED\tREADY\tOBSERVED\tSERVED\tSTATE")
	for i := 0; i < n; i += max(1, n/lines) {
		m := &p.Moments[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Time.Format(minute), number(m.Recorded.Observed), number(m.Recorded.Served),
			number(m.Recorded.Wanted), number(m.Recorded.Ready), number(m.TodaysSpec.Observed), number(m.TodaysSpec.Served), m.TodaysSpec.State)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	p.writeNotes(out)
	return nil
}

func (p *Past) writeNotes(out io.Writer) {
	fmt.Fprint(out, legend)
	for _, note := range p.Notes {
		fmt.Fprintf(out, "\n%s\n", note)
	}
}

func number(v *float64) string { return humanize.Optional(v, humanize.Number) }
