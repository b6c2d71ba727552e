package printable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Table is lines of cells, each safe as Line is, in columns that are a gap of spaces apart: the first few to the left, the
// others to the right.
func Table(lines [][]string, left, gap int) string {
	var widths []int
	for _, line := range lines {
		widths = append(widths, make([]int, max(0, len(line)-len(widths)))...)
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(Line(cell)))
		}
	}
	var out strings.Builder
	for _, line := range lines {
		var text strings.Builder
		for i, cell := range line {
			cell = Line(cell)
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				text.WriteString(strings.Repeat(" ", gap))
			}
			if i < left {
				text.WriteString(cell + pad)
			} else {
				text.WriteString(pad + cell)
			}
		}
		out.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	return out.String()
}

// Wrap breaks a text between words into lines of a width: the first behind a head, the others behind an indent. A no-break
// space keeps a number and its unit together.
func Wrap(head, text, indent string, width int) string {
	space := func(r rune) bool { return unicode.IsSpace(r) && r != '\u00a0' }
	var lines strings.Builder
	line, empty := head, true
	for word := range strings.FieldsFuncSeq(text, space) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines.WriteString(line + "\n")
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	return lines.String() + strings.TrimRight(line, " ") + "\n"
}
