package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
)

// write writes the Forecasts sorted by namespace and name, and what scripts read.
func (o *initOptions) write(out io.Writer, rows []*row, unread []string) (err error) {
	var all []objectDocument
	for _, r := range rows {
		if r.Manifest != "" {
			all = append(all, r.objectDocument)
		}
	}
	if o.out != "" || !o.output.ForScripts() {
		err = writeObjects(out, o.out, all)
	}
	if o.output.ForScripts() {
		err = errors.Join(err, o.output.Write(out, map[string]any{"workloads": bySaved(rows), "unread": unread}))
	}
	return err
}

// bySaved puts those first by which most would be saved, as far as that was simulated.
func bySaved(rows []*row) []*row {
	return slices.SortedStableFunc(slices.Values(rows), func(a, b *row) int { return cmp.Compare(b.Saved, a.Saved) })
}

// summarize writes a line for each workload, and below what was left out, and why.
func summarize(out io.Writer, rows []*row, unread []string) error {
	var lines [][]string
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
		by := cmp.Or(printable.Clip(strings.Join(r.ScaledBy, ", "), cmdline.Page), humanize.Unknown)
		preset := cmp.Or(r.Preset, humanize.Unknown)
		lines = append(lines, []string{printable.Clip(r.id(), cmdline.Page), preset, by, saves, forecast})
	}
	if len(rows) == 0 {
		notes = append(notes,
			"No workload has an autoscaler or a GPU here: name another namespace (-n), or all of them (-A)")
	}
	err := cmdline.Table(out, "WORKLOAD\tPRESET\tSCALED BY\tSAVES\tFORECAST", lines)
	for _, note := range append(notes, unread...) {
		fmt.Fprint(out, cmdline.Note(note))
	}
	return err
}
