package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/figures"
	"github.com/forewarm/forewarm/pkg/simulate/compare"
)

// leastWidth is what the table takes at least; narrower terminals wrap it.
const leastWidth = 60

// Text tells a comparison in a terminal of so many columns: what is assumed of the capacity, the verdict, the table, the
// charts, and then all that the figures rest on. It returns the error of the writer.
func Text(w io.Writer, c *compare.Comparison, width int) error {
	width = max(width, leastWidth)
	var out bytes.Buffer
	paragraph(&out, capacity(&c.Assumptions), width)
	out.WriteByte('\n')
	paragraph(&out, c.Verdict, width)
	if c.Partial {
		out.WriteByte('\n')
		paragraph(&out, interrupted, width)
	}
	writeTable(&out, c, width)
	writeSparklines(&out, c, width)
	writeScatter(&out, c, width)
	writeSections(&out, c, width)
	writeFacts(&out, c, width)
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// interrupted is what a reader must know of a comparison that was not finished.
const interrupted = "Interrupted: what is here is right, but policies or settings are missing from it."

// writeTable is a line for each policy, with its columns as far apart as the width allows.
func writeTable(out *bytes.Buffer, c *compare.Comparison, width int) {
	of := columns(&c.Assumptions)
	table := [][]string{{""}, {"policy"}}
	for _, column := range of {
		table[0], table[1] = append(table[0], column.Above), append(table[1], column.Below)
	}
	var notes []string
	for _, r := range rows(c, of) {
		name := r.Policy
		if r.Hindsight {
			name += "¹"
			notes = []string{"¹ with the target that was the best in hindsight"}
		}
		line := append([]string{name}, r.Numbers...)
		table = append(table, line)
	}
	missed := markMissed(table[2:], c, of)
	if missed {
		notes = append(notes, "! more was late than the objective of "+figures.Asked(c.Assumptions.Objective))
	}
	out.WriteByte('\n')
	align(out, table, width)
	for _, n := range notes {
		paragraph(out, n, width)
	}
}

// markMissed marks what is later than the objective allows. It says whether any is.
func markMissed(lines [][]string, c *compare.Comparison, of []column) bool {
	missed := false
	for i, column := range of {
		if column.Below != "late" || column.Above != "" {
			continue
		}
		for j := range lines {
			if c.Policies[j].Meets {
				lines[j][i+1] += " "
				continue
			}
			lines[j][i+1] += "!"
			missed = true
		}
	}
	return missed
}

// align writes lines of cells, the first to the left and the numbers to the right.
func align(out *bytes.Buffer, lines [][]string, width int) {
	widths := make([]int, len(lines[0]))
	total := 0
	for i := range widths {
		for _, line := range lines {
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
		}
		total += widths[i]
	}
	gap := 1
	if total+2*(len(widths)-1) <= width {
		gap = 2
	}
	for _, line := range lines {
		var text strings.Builder
		for i, cell := range line {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				text.WriteString(cell + pad)
				continue
			}
			text.WriteString(strings.Repeat(" ", gap) + pad + cell)
		}
		out.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
}

// writeFacts are the assumptions and the notes.
func writeFacts(out *bytes.Buffer, c *compare.Comparison, width int) {
	out.WriteString("\nWhat this rests on\n")
	for _, f := range facts(&c.Assumptions) {
		hanging(out, fmt.Sprintf("  %-27s", f.Name), f.Value, width)
	}
	if len(c.Notes) == 0 {
		return
	}
	out.WriteString("\nWhat to know before you trust it\n")
	for _, n := range c.Notes {
		hanging(out, "  - ", n, width)
	}
}

// paragraph breaks words into lines.
func paragraph(out *bytes.Buffer, text string, width int) { hanging(out, "", text, width) }

// hanging breaks words into lines behind a head, under which the further lines are indented.
func hanging(out *bytes.Buffer, head, text string, width int) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(head))
	line, empty := head, true
	for word := range strings.FieldsSeq(text) {
		word = plain(word)
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			out.WriteString(line + "\n")
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	out.WriteString(strings.TrimRight(line, " ") + "\n")
}
