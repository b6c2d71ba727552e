package initcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/files"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/terminal"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
)

// columns is the width of what people read.
const columns = 100

// write writes the Forecasts sorted by namespace and name: to stdout, with a comment for each that is left out, or into files.
func (o *options) write(out io.Writer, rows []*row, unread []string) error {
	var text strings.Builder
	var problems []error
	for _, r := range rows {
		switch path := filepath.Join(o.out, r.Namespace+"."+r.Name+".yaml"); { // No other's: a namespace has no dot.
		case o.out == "" && r.Manifest == "":
			text.WriteString(
				"---\n" + terminal.Wrap(printable.Line("No Forecast of "+r.id()+": "+r.LeftOut), "# ", columns),
			)
		case o.out == "":
			text.WriteString("---\n" + r.Manifest)
		case r.Manifest != "":
			if _, err := os.Lstat(path); err == nil && !o.force {
				problems = append(
					problems,
					fmt.Errorf("%s is there already and stays as it is: remove it, or add --force", path),
				)
				continue
			}
			problems = append(problems, os.MkdirAll(o.out, 0o755), files.Write(path, out, []byte(r.Manifest)))
		}
	}
	if o.output.ForScripts() {
		problems = append(problems, o.output.Write(out, map[string]any{"workloads": bySaved(rows), "unread": unread}))
	} else if _, err := io.WriteString(out, text.String()); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// bySaved puts those first by which most would be saved, as far as that was simulated.
func bySaved(rows []*row) []*row {
	return slices.SortedStableFunc(slices.Values(rows), func(a, b *row) int { return cmp.Compare(b.Saved, a.Saved) })
}

// summarize writes a line for each workload, and below what was left out, and why.
func summarize(out io.Writer, rows []*row, unread []string) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "WORKLOAD\tPRESET\tSCALED BY\tSAVES\tFORECAST")
	var notes []string
	for _, r := range bySaved(rows) {
		saves, forecast := humanize.Unknown, r.Name
		if r.Saved != 0 {
			saves = humanize.Amount(r.Saved) + " GPU-hours"
		}
		switch {
		case r.Manifest == "":
			forecast = "left out"
			notes = append(notes, r.id()+" is left out: "+r.LeftOut)
		case r.metric == nil:
			notes = append(notes, r.id()+" has no scaling: "+r.Scaling)
		}
		if r.Verdict != "" && r.LeftOut == "" {
			notes = append(notes, r.id()+": "+r.Verdict)
		}
		if r.Created {
			forecast += ", created"
		}
		cells := []string{
			r.id(),
			cmp.Or(r.Preset, humanize.Unknown),
			cmp.Or(strings.Join(r.ScaledBy, ", "), humanize.Unknown),
			saves,
		}
		for _, cell := range cells {
			fmt.Fprint(table, printable.Line(printable.Clip(cell, columns))+"\t")
		}
		fmt.Fprintln(table, printable.Line(forecast))
	}
	if len(rows) == 0 {
		notes = append(
			notes,
			"No workload has an autoscaler or a GPU here: name another namespace (-n), or all of them (-A)",
		)
	}
	err := table.Flush()
	for _, note := range append(notes, unread...) {
		const most = 1000
		line := terminal.Wrap(printable.Line(printable.Clip(note, most)), "  ", columns)
		fmt.Fprint(out, "- "+strings.TrimPrefix(line, "  "))
	}
	return err
}
