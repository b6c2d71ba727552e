package explain

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// write writes an explanation in the format that the flags specify.
func write(out io.Writer, form *cmdline.Output, e *explain.Explanation) error {
	switch {
	case form.ForScripts():
		return form.Write(out, e)
	case e.Desired == nil:
		fmt.Fprintf(out, "%s scales %s\n\n", e.HPA, e.Target)
	case *e.Desired == e.Replicas:
		fmt.Fprintf(out, "%s leaves %s at %s\n\n", e.HPA, e.Target, humanize.Plural(int(e.Replicas), "replica"))
	default:
		fmt.Fprintf(out, "%s takes %s from %d to %s\n\n", e.HPA, e.Target, e.Replicas,
			humanize.Plural(int(*e.Desired), "replica"))
	}
	for _, sentence := range e.Sentences {
		fmt.Fprintln(out, sentence)
	}
	if e.Live != nil {
		writeList(out, "Possible reasons why the status differs:", e.Live.Why)
	}
	writeList(out, "What could not be read:", e.Unknown)
	for _, w := range e.Warnings {
		fmt.Fprintf(out, "\n%s: %s.\n  → %s\n", w.Reason, w.Message, w.Advice)
	}
	return metricTable(out, e.Metrics)
}

// writeList writes a paragraph of items; nothing if there are no items.
func writeList(out io.Writer, title string, items []string) {
	if len(items) > 0 {
		fmt.Fprintf(out, "\n%s\n  - %s\n", title, strings.Join(items, "\n  - "))
	}
}

// metricTable writes a line for each metric.
func metricTable(out io.Writer, metrics []explain.MetricLine) error {
	var lines [][]string
	for i := range metrics {
		l := &metrics[i]
		lines = append(lines, []string{
			l.Name,
			l.Type,
			cmp.Or(l.Forecast, humanize.Unknown),
			humanize.Optional(l.Value, formatNumber),
			cmp.Or(l.Target, humanize.Unknown),
			humanize.Optional(l.Ratio, formatNumber),
			formatReplicas(l.Proposes),
			cmp.Or(l.Live, humanize.Unknown),
			metricNote(l),
		})
	}
	return cmdline.Table(out, "\nMETRIC\tTYPE\tFORECAST\tVALUE\tTARGET\tRATIO\tASKS FOR\tSTATUS\tNOTE", lines)
}

func metricNote(l *explain.MetricLine) string {
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
	return humanize.Unknown
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func formatReplicas(n *int32) string {
	if n == nil {
		return humanize.Unknown
	}
	return strconv.Itoa(int(*n))
}
