package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// record are the lines of a run, as --json prints them.
type record []line

// readRecord reads the lines that a run printed, and skips its tables.
func readRecord(path string) (record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out record
	for row := range strings.Lines(string(text)) {
		if !strings.HasPrefix(row, "{") {
			continue
		}
		var l line
		if err := json.Unmarshal([]byte(row), &l); err != nil {
			return nil, fmt.Errorf("%s: line %d that begins with {: %w", path, len(out)+1, err)
		}
		if l.Objective == 0 { // Constant headrooms are no setting of the policy.
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no line of JSON: name the output of a run with --json", path)
	}
	return out, nil
}

// setup is what lines must have in common to be compared.
type setup struct {
	lead     string
	step     float64
	firstDay bool
}

func (l line) setup() setup { return setup{l.Lead, l.Step, l.FirstDay} }

// String is L = 5m0s, with what differs from the default.
func (s setup) String() string {
	text := "L = " + s.lead
	if step := time.Duration(s.step * float64(time.Second)); step != sync {
		text += ", every " + step.String()
	}
	if s.firstDay {
		text += ", first 24 h"
	}
	return text
}

// setups of the lines that count, in their order.
func (r record) setups() []setup {
	var out []setup
	for _, l := range r {
		if s := l.setup(); l.Family != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// of are the lines of a policy that count.
func (r record) of(s setup, policy string) record {
	return r.where(func(l line) bool { return l.Family != "" && l.Policy == policy && l.setup() == s })
}

func (r record) where(is func(line) bool) record {
	var out record
	for _, l := range r {
		if is(l) {
			out = append(out, l)
		}
	}
	return out
}

// traces are their names, in order.
func (r record) traces() []string {
	var out []string
	for _, l := range r {
		if l.Family != "" && !slices.Contains(out, l.Trace) {
			out = append(out, l.Trace)
		}
	}
	return out
}

// curve is the cost over lateness on a trace.
func (r record) curve(trace string) []point {
	var out []point
	for _, l := range r {
		if l.Trace == trace {
			out = append(out, point{l.Late, l.Cost})
		}
	}
	return out
}

// front is the cost over mean lateness of one setting for all traces; families have equal weights.
func (r record) front() []point {
	var settings []float64
	for _, l := range r {
		if !slices.Contains(settings, l.Setting) {
			settings = append(settings, l.Setting)
		}
	}
	var out []point
	for _, setting := range settings {
		lines := r.where(func(l line) bool { return l.Setting == setting })
		o := totalsOf(setting, lines, lines.weights())
		out = append(out, point{o.mean, o.cost})
	}
	return out
}

// weights give families equal weights.
func (r record) weights() []float64 {
	var families []string
	for _, l := range r {
		families = append(families, l.Family)
	}
	return familyWeights(families)
}

// baseline writes the figures to compare a later change with: the cost at a mean lateness, and Forewarm's results on each trace
// under an objective.
func (r record) baseline(text *strings.Builder) {
	if len(r.setups()) == 0 {
		return
	}
	text.WriteString(
		"\n**Baseline**: cost of one setting for all traces at a mean lateness, equal weights of families\n\n" +
			"| | policy | .5 % | 1 % | 2 % |\n|---|---|--:|--:|--:|\n",
	)
	for _, s := range r.setups() {
		for _, policy := range []string{"stock300", "reactive-tuned", "forewarm", "oracle"} {
			front := r.of(s, policy).front()
			if len(front) == 0 {
				continue
			}
			fmt.Fprintf(text, "| %s | %s |", s, policy)
			for _, late := range matchedLateness() {
				fmt.Fprintf(text, " %s |", formatRatio(costAt(front, late)))
			}
			text.WriteString("\n")
		}
	}
	r.objectiveBaseline(text)
}

// objectiveBaseline has a row for each trace, of the setups at the default step.
func (r record) objectiveBaseline(text *strings.Builder) {
	ours := r.where(func(l line) bool { return l.Policy == "forewarm" && l.Step == sync.Seconds() })
	if len(ours.setups()) == 0 {
		return
	}
	text.WriteString(
		"\n**Baseline**: lateness in percent, and cost, of forewarm with an objective of .5, 1 and 2 %\n\n| trace |",
	)
	for _, s := range ours.setups() {
		fmt.Fprintf(text, " %s: .5 %% | 1 %% | 2 %% |", s)
	}
	text.WriteString("\n|---|" + strings.Repeat("--:|", len(reportedObjectives())*len(ours.setups())) + "\n")
	for _, trace := range ours.traces() {
		fmt.Fprintf(text, "| %s |", trace)
		for _, s := range ours.setups() {
			for _, objective := range reportedObjectives() {
				text.WriteString(" " + ours.got(s, trace, objective) + " |")
			}
		}
		text.WriteString("\n")
	}
}

// got is lateness and cost of one setting on a trace.
func (r record) got(s setup, trace string, setting float64) string {
	i := slices.IndexFunc(r, func(l line) bool { return l.setup() == s && l.Trace == trace && l.Setting == setting })
	if i < 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f at %.3f", 100*r[i].Late, r[i].Cost)
}
