package outlooks

import (
	"fmt"
	"io"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

const heads = "\tRECORDED\t\t\t\tTODAY'S SPEC\t\t\nTIME\tOBSERVED\tSERVED\tWANTED\tREADY\tOBSERVED\tSERVED\tSTATE"

const legend = `
RECORDED is what Forewarm's own gauges say was served and done then. TODAY'S SPEC is what the spec, the autoscalers and the
lead time of now would have served, replayed on the history until then.
`

// Write writes Forecasts for scripts, or a table for each, with the reason if it is of one moment.
func WritePast(out io.Writer, output *cmdline.Output, all []*Past) error {
	if output.ForScripts() {
		return output.Write(out, all)
	}
	for _, p := range all {
		fmt.Fprintf(out, "Forecast %s (UTC)\n\n", p.Forecast)
		var lines [][]string
		for i := range p.Moments {
			was, now := &p.Moments[i].Recorded, &p.Moments[i].TodaysSpec
			cells := []string{p.Moments[i].Time.Format(time.DateTime)}
			for _, v := range []*float64{was.Observed, was.Served, was.Wanted, was.Ready, now.Observed, now.Served} {
				cells = append(cells, humanize.Optional(v, humanize.Number))
			}
			lines = append(lines, append(cells, now.State))
		}
		if err := cmdline.Table(out, heads, lines); err != nil {
			return err
		}
		if len(p.Moments) == 1 {
			fmt.Fprintf(out, "\nWhy, by today's spec: %s.\n", p.Moments[0].TodaysSpec.Reason)
		}
		for _, note := range p.Notes {
			fmt.Fprintf(out, "\n%s\n", note)
		}
		fmt.Fprint(out, legend)
	}
	return nil
}
