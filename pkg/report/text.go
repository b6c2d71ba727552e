package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/printable"
)

// Section is a part of a report in a terminal: a title, and below it what it has in the order of the fields.
type Section struct {
	Title     string
	Sentences []string
	// Table has a row for each record.
	Table []*Record
	// Drawing is a chart in characters.
	Drawing string
	Facts   *Record
	Items   []string
	Notes   []string
}

// Text writes sections in lines of a width, with an empty line between them. It leaves out those that have nothing but a title.
func Text(all []Section, width int) string {
	var parts []string
	for i := range all {
		if part := all[i].text(width); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n")
}

func (s *Section) text(width int) string {
	var out strings.Builder
	wrap := func(head string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				indent := strings.Repeat(" ", utf8.RuneCountInString(head))
				out.WriteString(printable.Wrap(head, text, indent, width))
			}
		}
	}
	wrap("", s.Sentences...)
	out.WriteString(table(s.Table, width) + s.Drawing)
	if s.Facts != nil {
		for _, f := range s.Facts.Shown() {
			wrap(fmt.Sprintf("  %-27s", f.Head), f.Text)
		}
	}
	wrap("  - ", s.Items...)
	wrap("", s.Notes...)
	if s.Title == "" || out.Len() == 0 {
		return out.String()
	}
	return s.Title + "\n" + out.String()
}

// table writes a row for each record, the first column to the left and the numbers to the right, as far apart as the width allows.
func table(rows []*Record, width int) string {
	if len(rows) == 0 {
		return ""
	}
	heads := rows[0].Shown()
	tallest := 1
	for _, f := range heads {
		tallest = max(tallest, len(f.HeadLines()))
	}
	lines := slices.Repeat([][]string{nil}, tallest)
	for _, f := range heads {
		head := append(make([]string, tallest-len(f.HeadLines())), f.HeadLines()...)
		for i := range lines {
			lines[i] = append(lines[i], head[i])
		}
	}
	for _, r := range rows {
		var line []string
		for _, f := range r.Shown() {
			line = append(line, f.Text+f.Mark)
		}
		lines = append(lines, line)
	}
	text := printable.Table(lines, 1, 2) //nolint:mnd // Apart.
	if first, _, _ := strings.Cut(text, "\n"); utf8.RuneCountInString(first) > width {
		text = printable.Table(lines, 1, 1)
	}
	return text
}

//go:embed fragments.html
var fragments string

// Templates returns the fragments of a page: "rows" is the inside of a table of records, "facts" a list of a record's.
func Templates() *template.Template { return template.Must(template.New("fragments").Parse(fragments)) }
