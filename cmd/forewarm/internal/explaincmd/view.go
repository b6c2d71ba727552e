package explaincmd

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/forewarm/forewarm/pkg/offline/explain"
	"github.com/forewarm/forewarm/pkg/printable"
)

// nothing stands for what is not known.
const nothing = "-"

// show writes an explanation for people.
func show(out io.Writer, e *explain.Explanation) error {
	switch {
	case e.Desired == nil:
		fmt.Fprintf(out, "%s scales %s\n\n", e.HPA, e.Target)
	case *e.Desired == e.Replicas:
		fmt.Fprintf(out, "%s leaves %s at %d replicas\n\n", e.HPA, e.Target, e.Replicas)
	default:
		fmt.Fprintf(out, "%s takes %s from %d to %d replicas\n\n", e.HPA, e.Target, e.Replicas, *e.Desired)
	}
	for _, sentence := range e.Sentences {
		fmt.Fprintln(out, sentence)
	}
	if e.Live != nil {
		list(out, "Why its status can say something else:", e.Live.Why)
	}
	list(out, "What could not be read:", e.Unknown)
	for _, w := range e.Warnings {
		fmt.Fprintf(out, "\n%s: %s.\n  → %s\n", w.Reason, w.Message, w.Advice)
	}
	return table(out, e.Metrics)
}

// list is a paragraph of items; nothing without any.
func list(out io.Writer, title string, items []string) {
	if len(items) > 0 {
		fmt.Fprintf(out, "\n%s\n  - %s\n", title, strings.Join(items, "\n  - "))
	}
}

func table(out io.Writer, lines []explain.Line) error {
	if len(lines) == 0 {
		return nil
	}
	tabs := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tabs, "\nMETRIC\tTYPE\tFORECAST\tVALUE\tTARGET\tRATIO\tASKS FOR\tBY ITS STATUS\tNOTE")
	for i := range lines {
		l := &lines[i]
		cells := []string{
			l.Name, l.Type, cmp.Or(l.Forecast, nothing), number(l.Value), cmp.Or(l.Target, nothing), number(l.Ratio),
			whole(l.Proposes), cmp.Or(l.Live, nothing), note(l),
		}
		for j := range cells {
			cells[j] = printable.Line(cells[j])
		}
		fmt.Fprintln(tabs, strings.Join(cells, "\t"))
	}
	return tabs.Flush()
}

func note(l *explain.Line) string {
	switch {
	case l.Error != "":
		return l.Error
	case l.Decides && l.WithinTolerance:
		return "decides, within tolerance"
	case l.Decides:
		return "decides"
	case l.WithinTolerance:
		return "within tolerance"
	}
	return nothing
}

func number(v *float64) string {
	if v == nil {
		return nothing
	}
	return strconv.FormatFloat(*v, 'g', 6, 64)
}

func whole(n *int32) string {
	if n == nil {
		return nothing
	}
	return strconv.Itoa(int(*n))
}
