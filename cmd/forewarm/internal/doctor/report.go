package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/doctor"
	"github.com/forewarm/forewarm/pkg/printable"
)

const (
	// columns limits the length of lines on a wide terminal.
	columns = 120
	// maxAlike is how many findings of one check and level are shown; the others are only counted.
	maxAlike = 10
)

// write writes a report for people. Problems come first, each with what to do, then a line with the checks that passed.
func write(out io.Writer, r doctor.Report) error {
	width, _ := cmdline.Columns(out, columns)
	width = min(width, columns)
	var text strings.Builder
	alike, all := map[string]int{}, r.Findings
	for len(all) > 0 {
		n := same(all)
		f := &all[0]
		key := string(f.Level) + " " + f.Check
		if alike[key] += n; f.Level != doctor.OK && alike[key] <= maxAlike {
			// What to do about several findings in a row is written once, below them.
			writeFinding(&text, all[:n], n == len(all) || all[n].Remedy != f.Remedy, width)
		}
		all = all[n:]
	}
	writeOmitted(&text, r, alike)
	writeWell(&text, r, width)
	fmt.Fprintf(&text, "\n%s, %s, %d unknown, %d ok\n", humanize.Plural(r.Count(doctor.Error), "error"),
		humanize.Plural(r.Count(doctor.Warning), "warning"), r.Count(doctor.Unknown), r.Count(doctor.OK))
	if r.Count(doctor.Error) > 1 {
		text.WriteString("Fix the first error first: it may cause the others.\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// same returns how many findings, from the first on, say the same about different objects.
func same(all []doctor.Finding) int {
	n := 1
	for n < len(all) && n < maxAlike {
		next := all[n]
		next.Object = all[0].Object
		if next != all[0] {
			break
		}
		n++
	}
	return n
}

const indent = "         "

// levelHead returns a level, padded to the width of the indent.
func levelHead(level doctor.Level) string {
	return fmt.Sprintf("%-*s", len(indent), strings.ToUpper(string(level)))
}

// writeFinding writes findings that say the same, with or without what to do.
func writeFinding(text *strings.Builder, all []doctor.Finding, remedy bool, width int) {
	f := &all[0]
	title := []string{f.Check}
	for i := range all {
		if all[i].Object != "" {
			title = append(title, all[i].Object)
		}
	}
	text.WriteString(printable.Wrap(levelHead(f.Level), strings.Join(title, ", "), indent, width))
	text.WriteString(printable.Wrap(indent, f.Message+".", indent, width))
	if f.Remedy != "" && remedy {
		text.WriteString(printable.Wrap(indent, "→ "+f.Remedy, indent, width))
	}
}

// writeOmitted writes how many findings were left out.
func writeOmitted(text *strings.Builder, r doctor.Report, alike map[string]int) {
	for i := range r.Findings {
		f := &r.Findings[i]
		key := string(f.Level) + " " + f.Check
		if n := alike[key] - maxAlike; n > 0 && f.Level != doctor.OK {
			fmt.Fprintf(text, "%s%s: %d more like these; --json lists all\n", levelHead(f.Level), f.Check, n)
			delete(alike, key)
		}
	}
}

// writeWell writes a line with the checks that found nothing and the number of objects that they checked.
func writeWell(text *strings.Builder, r doctor.Report, width int) {
	var names, words []string
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Level == doctor.OK && !slices.Contains(names, f.Check) {
			names = append(names, f.Check)
		}
	}
	for _, name := range names {
		n := 0
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Level == doctor.OK && f.Check == name {
				n++
			}
		}
		words = append(words, fmt.Sprintf("%s (%d)", name, n))
	}
	if len(words) > 0 {
		text.WriteString(printable.Wrap(levelHead(doctor.OK), strings.Join(words, ", "), indent, width))
	}
}

// waitsFor says in one line what --wait is waiting for.
func waitsFor(r doctor.Report, err error) string {
	if err != nil {
		return err.Error()
	}
	var checks []string
	first := ""
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Level == doctor.Error {
			if !slices.Contains(checks, f.Check) {
				checks = append(checks, f.Check)
			}
			if first == "" {
				first = strings.TrimSpace(f.Object + " " + f.Message)
			}
		}
	}
	errs := humanize.Plural(r.Count(doctor.Error), "error")
	return fmt.Sprintf("%s (%s): %s", errs, strings.Join(checks, ", "), first)
}
