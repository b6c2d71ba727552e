// Package reference writes pages of docs/reference from what the programs themselves say.
package reference

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Section is metrics that have a headline together.
type Section struct {
	Title, Text string
	Collectors  []prometheus.Collector
}

type metric struct {
	name, help string
	labels     []string
}

// description matches the text of a prometheus.Desc, which has no other way to return its parts.
var description = regexp.MustCompile(
	`^Desc\{fqName: ("[^"]*"), help: ("(?:[^"\\]|\\.)*"), (?:unit: "[^"]*", )?constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`,
)

// WriteMetrics writes a table of each section's metrics.
func WriteMetrics(out io.Writer, sections ...Section) error {
	for _, section := range sections {
		all, err := metrics(section.Collectors)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n## %s\n\n%s\n\n| metric | type | labels | |\n|---|---|---|---|\n", section.Title,
			section.Text)
		for _, m := range all {
			labels := ""
			if len(m.labels) > 0 {
				labels = "`" + strings.Join(m.labels, "`, `") + "`"
			}
			fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n",
				m.name, m.kind(), labels, strings.ReplaceAll(m.help, "|", `\|`))
		}
	}
	return nil
}

// kind derives the type from the name, according to the conventions of Prometheus. Tests compare it with what is scraped.
func (m metric) kind() string {
	if strings.HasSuffix(m.name, "_total") {
		return "counter"
	}
	return "gauge"
}

// metrics returns the metrics that the collectors describe, by name.
func metrics(collectors []prometheus.Collector) ([]metric, error) {
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		for _, c := range collectors {
			c.Describe(descriptions)
		}
	}()
	var (
		all     []metric
		problem error
	)
	for d := range descriptions {
		m, err := parse(d.String())
		problem = cmp.Or(problem, err)
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b metric) int { return strings.Compare(a.name, b.name) })
	return all, problem
}

func parse(text string) (metric, error) {
	found := description.FindStringSubmatch(text)
	if found == nil {
		return metric{}, fmt.Errorf("the description of a metric is not of the form that is known: %s", text)
	}
	name, err := strconv.Unquote(found[1])
	if err != nil {
		return metric{}, fmt.Errorf("name of %s: %w", text, err)
	}
	help, err := strconv.Unquote(found[2])
	if err != nil {
		return metric{}, fmt.Errorf("help of %s: %w", text, err)
	}
	m := metric{name: name, help: help}
	for label := range strings.SplitSeq(found[3]+","+found[4], ",") {
		if label, _, _ = strings.Cut(label, "="); label != "" {
			m.labels = append(m.labels, label)
		}
	}
	return m, nil
}

// Unlisted are the metrics of ours, with their types, that a program serves and that the page does not list.
func Unlisted(page, served string) []string {
	var out []string
	for line := range strings.Lines(served) {
		words := strings.Fields(line)
		if len(words) == 4 && words[1] == "TYPE" && strings.HasPrefix(words[2], "forewarm_") &&
			!strings.Contains(page, fmt.Sprintf("\n| %#q | %s |", words[2], words[3])) {
			out = append(out, words[2]+" "+words[3])
		}
	}
	return out
}

// WriteHelp writes the help of a command under its name.
func WriteHelp(out io.Writer, command, help string) {
	fmt.Fprintf(out, "\n## %s\n\n```text\n%s\n```\n", command, strings.TrimSpace(help))
}
