package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/printable"
)

// leastWidth is what the table takes at least; narrower terminals wrap it.
const leastWidth = 60

// Text writes a comparison for a terminal of a width: the capacity, the verdict, the table, the charts, the
// assumptions and the caveats. It returns the error of the writer.
func Text(w io.Writer, c *compare.Comparison, width int) error {
	width = max(width, leastWidth)
	var out bytes.Buffer
	paragraph(&out, describeCapacity(&c.Assumptions), width)
	out.WriteByte('\n')
	paragraph(&out, cmp.Or(c.Verdict, c.TooShort), width)
	if c.Partial {
		out.WriteByte('\n')
		paragraph(&out, interrupted, width)
	}
	writeTable(&out, c, width)
	writeCourses(&out, c, width)
	writeFrontier(&out, c, width)
	writeSections(&out, c, width)
	writeFacts(&out, c, width)
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// interrupted is what a reader must know of a comparison that was not finished.
const interrupted = "Interrupted: the figures are correct, but some policies or settings are missing."

// writeTable is a line for each policy, with its columns as far apart as the width allows.
func writeTable(out *bytes.Buffer, c *compare.Comparison, width int) {
	shown := columns(&c.Assumptions)
	limited := limitedColumn(&c.Assumptions, shown)
	table := [][]string{{""}, {"policy"}}
	for _, column := range shown {
		table[0], table[1] = append(table[0], column.Above), append(table[1], column.Below)
	}
	var hindsight, missed string
	for _, r := range rows(c, shown) {
		line := append([]string{r.Policy}, r.Numbers...)
		if r.Hindsight {
			line[0] += "¹"
			hindsight = "¹ with the best target in hindsight"
		}
		sign := " "
		if r.Misses {
			sign = "!"
			missed = "! misses the objective: more " + c.Assumptions.LimitedWord() + " than " + humanize.ShareAsWritten(
				c.Assumptions.Objective,
			)
			if c.Assumptions.Deferrable > 0 {
				missed += ", or of what may wait past its deadline"
			}
		}
		line[limited+1] += sign
		table = append(table, line)
	}
	out.WriteByte('\n')
	writeAligned(out, table, width)
	for _, note := range []string{hindsight, missed} {
		if note != "" {
			paragraph(out, note, width)
		}
	}
}

// writeAligned writes lines of cells, the first to the left and the numbers to the right, as far apart as the width allows.
func writeAligned(out *bytes.Buffer, lines [][]string, width int) {
	table := printable.Table(lines, 1, 2) //nolint:mnd // Apart.
	if first, _, _ := strings.Cut(table, "\n"); utf8.RuneCountInString(first) > width {
		table = printable.Table(lines, 1, 1)
	}
	out.WriteString(table)
}

// writeCourses draws the demand over time, and under it what was late of it by policy, a bar for each stretch.
func writeCourses(out *bytes.Buffer, c *compare.Comparison, width int) {
	// The width of the names left of the bars, and the largest width in all.
	const named, mostColumns = 17, 120
	const moment = "Mon 2 Jan 15:04"
	across := min(width, mostColumns) - named
	var first []compare.Slot // One that can stand for the time of all.
	worst := 0.0
	for i := range c.Policies {
		if p := &c.Policies[i]; len(p.Timeline) > 0 {
			worst = max(worst, chart.HighestValue(valuesOf(resampled(p.Timeline, across), late)))
			if len(p.Timeline) > len(first) {
				first = p.Timeline
			}
		}
	}
	if first == nil {
		return
	}
	fmt.Fprintf(out, "\nDemand, and late demand by policy, %s to %s UTC\n",
		first[0].Start.UTC().Format(moment), endOf(first).UTC().Format(moment))
	bars := func(name string, values []float64, top float64) {
		fmt.Fprintf(out, "%-*s%s\n", named, name, chart.Bars(values, top))
	}
	came := valuesOf(resampled(first, across), demand)
	bars("demand", came, chart.HighestValue(came))
	for i := range c.Policies {
		if p := &c.Policies[i]; len(p.Timeline) > 0 {
			bars(p.Name, valuesOf(resampled(p.Timeline, across), late), worst)
		}
	}
	paragraph(out, fmt.Sprintf("A full bar is a demand of %s replicas; for a policy, %s of the demand late.",
		humanize.Amount(chart.HighestValue(came)), humanize.Share(worst)), width)
}

// writeFacts are the assumptions and the notes.
func writeFacts(out *bytes.Buffer, c *compare.Comparison, width int) {
	out.WriteString("\nAssumptions\n")
	for _, f := range facts(&c.Assumptions) {
		hanging(out, fmt.Sprintf("  %-27s", f.Name), f.Value, width)
	}
	if len(c.Notes) == 0 {
		return
	}
	out.WriteString("\nCaveats\n")
	for _, n := range c.Notes {
		hanging(out, "  - ", n, width)
	}
}

// paragraph breaks words into lines.
func paragraph(out *bytes.Buffer, text string, width int) { hanging(out, "", text, width) }

// hanging breaks words into lines behind a head, under which the further lines are indented.
func hanging(out *bytes.Buffer, head, text string, width int) {
	out.WriteString(printable.Wrap(head, text, strings.Repeat(" ", utf8.RuneCountInString(head)), width))
}
