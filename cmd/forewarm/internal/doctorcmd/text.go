package doctorcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/doctor"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/terminal"
)

const (
	// maxColumns bounds the lines on a wide terminal.
	maxColumns = 120
	// maxAlike is how many findings of one check and level are shown; the rest is counted.
	maxAlike = 10
)

// write writes a report for people: what is wrong first, each with what to do, then one line for each check that is well.
func write(out io.Writer, r doctor.Report) error {
	width, _ := terminal.Columns(out, maxColumns)
	width = min(width, maxColumns)
	var text strings.Builder
	alike := map[string]int{}
	for i := range r.Findings {
		f := &r.Findings[i]
		key := string(f.Level) + " " + f.Check
		if alike[key]++; f.Level == doctor.OK || alike[key] > maxAlike {
			continue
		}
		title := f.Check
		if f.Object != "" {
			title += ", " + f.Object
		}
		fmt.Fprintf(&text, "%-8s %s\n", strings.ToUpper(string(f.Level)), title)
		text.WriteString(terminal.Wrap(f.Message+".", "         ", width))
		if f.Remedy != "" {
			text.WriteString(terminal.Wrap("→ "+f.Remedy, "         ", width))
		}
	}
	writeOmitted(&text, r, alike)
	writeWell(&text, r, width)
	fmt.Fprintf(&text, "\n%s, %s, %d unknown, %d ok\n", plural(r.Count(doctor.Error), "error"),
		plural(r.Count(doctor.Warning), "warning"), r.Count(doctor.Unknown), r.Count(doctor.OK))
	_, err := io.WriteString(out, text.String())
	return err
}

// writeOmitted counts what was left out.
func writeOmitted(text *strings.Builder, r doctor.Report, alike map[string]int) {
	for i := range r.Findings {
		f := &r.Findings[i]
		key := string(f.Level) + " " + f.Check
		if n := alike[key] - maxAlike; n > 0 && f.Level != doctor.OK {
			fmt.Fprintf(text, "%-8s %s: %d more like these; --json lists all\n", strings.ToUpper(string(f.Level)), f.Check, n)
			delete(alike, key)
		}
	}
}

// writeWell writes a line with the checks that found nothing, with how many objects they looked at.
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
		line := terminal.Wrap(strings.Join(words, ", "), "         ", width)
		fmt.Fprintf(text, "%-8s %s", "OK", strings.TrimPrefix(line, "         "))
	}
}

// waitsFor is in one line what --wait waits for.
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
	return fmt.Sprintf("%s (%s): %s", plural(r.Count(doctor.Error), "error"), strings.Join(checks, ", "), first)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
