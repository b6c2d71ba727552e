package presetscmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/terminal"
	"github.com/forewarm/forewarm/pkg/signal"
)

// width of a page, in characters.
const width = 100

// choose is the sources with those of their presets that a word names: all of a server's, all of a signal's, or one.
func choose(word string) []signal.Source {
	var chosen []signal.Source
	for _, s := range signal.Sources() {
		if s.Name == word {
			return []signal.Source{s}
		}
		s.Presets = slices.DeleteFunc(s.Presets, func(p signal.Preset) bool {
			return p.Name != word && p.Name != s.Name+"/"+word
		})
		s.Lacks = slices.DeleteFunc(s.Lacks, func(l signal.Lack) bool { return l.Signal != word })
		if len(s.Presets)+len(s.Lacks) > 0 {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// table is one line for each preset, and below it what there is no preset for.
func table(out io.Writer, sources []signal.Source) error {
	tabs := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tabs, "PRESET\tUNIT\tKIND\tFOR")
	for _, s := range sources {
		for _, p := range s.Presets {
			fmt.Fprintf(tabs, "%s\t%s\t%s\t%s\n", p.Name, p.Unit, kind(p), p.Brief)
		}
	}
	if err := tabs.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(tabs, "\nNOT REPORTED\tWHY")
	for _, s := range sources {
		for _, l := range s.Lacks {
			fmt.Fprintf(tabs, "%s/%s\t%s\n", s.Name, l.Signal, l.Reason)
		}
	}
	return tabs.Flush()
}

func kind(p signal.Preset) string {
	if p.Rate {
		return "rate"
	}
	return "gauge"
}

// explain says all that is known of presets, server by server.
func explain(out io.Writer, sources []signal.Source) error {
	var text strings.Builder
	for i, s := range sources {
		if i > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "%s: %s\n%s", s.Name, s.Title, terminal.Wrap(s.Note, "", width))
		for _, p := range s.Presets {
			fmt.Fprintf(&text, "\n%s (%s, %s): %s\n%s%s", p.Name, p.Unit, kind(p), p.Brief,
				terminal.Wrap(p.Summary, "  ", width), terminal.Wrap("Target: "+p.Target+".", "  ", width))
		}
		for _, l := range s.Lacks {
			fmt.Fprintf(
				&text,
				"\n%s/%s is not reported\n%s",
				s.Name,
				l.Signal,
				terminal.Wrap(l.Reason+".", "  ", width),
			)
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}
