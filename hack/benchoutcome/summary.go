package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// print prints the tables; before may be nil.
func (r record) print(out io.Writer, before record) error {
	var text strings.Builder
	recordedOnly := func(l line) bool { return l.Family != scheduledFamily }
	counting, made := r.where(recordedOnly), r.where(func(l line) bool { return !recordedOnly(l) })
	leads := r.distinct(func(l line) string { return l.Lead })
	at := func(r record, lead string) record { return r.where(func(l line) bool { return l.Lead == lead }) }
	for _, lead := range leads {
		of := at(counting, lead)
		fmt.Fprintf(&text, "\n## L = %s: %s\n", lead,
			strings.Join(of.distinct(func(l line) string { return l.Trace }), ", "))
		of.policyTable(&text)
		of.runTable(&text)
		at(made, lead).madeTable(&text)
	}
	text.WriteString("\n## Forewarm\n\n| |")
	var columns []figures
	for _, lead := range leads {
		fmt.Fprintf(&text, " L = %s |", lead)
		columns = append(columns, at(counting, lead).figures())
		if before != nil {
			fmt.Fprintf(&text, " before |")
			columns = append(columns, at(before.where(recordedOnly), lead).figures())
		}
	}
	text.WriteString("\n|---|" + strings.Repeat("--:|", len(columns)) + "\n")
	for _, row := range figureRows() {
		fmt.Fprintf(&text, "| %s |", row.name)
		for _, f := range columns {
			fmt.Fprintf(&text, " %s |", row.of(f))
		}
		text.WriteString("\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// policyTable writes the cost of each policy with one setting for all traces.
func (r record) policyTable(text *strings.Builder) {
	text.WriteString("\nOne setting for all traces, families weighing equally: relative cost at a mean lateness\n\n" +
		"| policy | .5 % | 1 % | 2 % | 1 %, leaving out each trace in turn |\n|---|--:|--:|--:|--:|\n")
	for _, policy := range r.distinct(func(l line) string { return l.Policy }) {
		fmt.Fprintf(text, "| %s |", policy)
		for _, late := range []float64{0.005, 0.01, 0.02} {
			fmt.Fprintf(text, " %s |", ratioText(r.costOfOneSetting(policy, late)))
		}
		low, high := r.leaveOneOut(policy, 0.01)
		fmt.Fprintf(text, " %s to %s |\n", ratioText(low), ratioText(high))
	}
}

// costOfOneSetting returns the cost of a policy at a mean lateness, with one setting for all traces.
func (r record) costOfOneSetting(policy string, late float64) float64 {
	var points []point
	for _, p := range r.oneSetting(policy, false) {
		points = append(points, p)
	}
	return costAt(points, late)
}

// leaveOneOut returns the range of this cost if each trace is left out in turn. It shows how much the cost depends on a single workload.
func (r record) leaveOneOut(policy string, late float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, trace := range r.distinct(func(l line) string { return l.Trace }) {
		cost := r.where(func(l line) bool { return l.Trace != trace }).costOfOneSetting(policy, late)
		if math.IsNaN(cost) {
			return cost, cost
		}
		low, high = min(low, cost), max(high, cost)
	}
	return low, high
}

// runTable writes each trace under each objective.
func (r record) runTable(text *strings.Builder) {
	text.WriteString(
		"\nLate over asked, regret, and cost over that of the HPA's best target; the first day's cost at 1 %\n\n| trace |",
	)
	for _, objective := range judgedObjectives() {
		fmt.Fprintf(text, " %g %% | regret | HPA |", 100*objective)
	}
	text.WriteString(" first day |\n|---|" + strings.Repeat("--:|", 3*len(judgedObjectives())+1) + "\n")
	all := r.runs()
	for len(all) > 0 {
		trace := all[0].trace
		fmt.Fprintf(text, "| %s |", trace)
		for ; len(all) > 0 && all[0].trace == trace; all = all[1:] {
			fmt.Fprintf(text, " %.2f | %s | %s |", all[0].ratio, ratioText(all[0].regret), ratioText(all[0].overHPA))
		}
		first := r.where(func(l line) bool { return l.Trace == trace }).oneSetting(compare.Forewarm, true)[0.01]
		fmt.Fprintf(text, " %s |\n", ratioText(first.cost))
	}
}

// madeTable writes the loads with a timetable, each with its own setting.
func (r record) madeTable(text *strings.Builder) {
	if len(r) == 0 {
		return
	}
	traces := r.distinct(func(l line) string { return l.Trace })
	fmt.Fprintf(text,
		"\nMade loads: relative cost at .5 %% late, each with its own setting\n\n| policy | %s |\n|---|%s\n",
		strings.Join(traces, " | "), strings.Repeat("--:|", len(traces)))
	for _, policy := range r.distinct(func(l line) string { return l.Policy }) {
		fmt.Fprintf(text, "| %s |", policy)
		for _, trace := range traces {
			points := r.points(func(l line) bool {
				return l.Trace == trace && l.Policy == policy && l.Headroom == nil && !l.FirstDay
			})
			fmt.Fprintf(text, " %s |", ratioText(costAt(points, 0.005)))
		}
		text.WriteString("\n")
	}
}

// figureRow is a row of the last table.
type figureRow struct {
	name string
	of   func(figures) string
}

func figureRows() []figureRow {
	return []figureRow{
		{"regret: median / p90 / worst", func(f figures) string {
			return strings.Join(
				[]string{ratioText(f.regret.median), ratioText(f.regret.p90), ratioText(f.regret.worst)}, " / ",
			)
		}},
		{"late under a third / over 1.3 times of what was asked; the latest", func(f figures) string {
			return fmt.Sprintf("%d / %d of %d; %.2f", f.under, f.over, f.runs, f.worst)
		}},
		{"no more expensive than the HPA with its best target; median, worst", func(f figures) string {
			return fmt.Sprintf("%d of %d; %s, %s", f.cheaper, f.rivals, ratioText(f.medianOverHPA),
				ratioText(f.worstCost))
		}},
		{"cost at 1 % asked (mean late)", func(f figures) string { return pointText(f.asked1) }},
		{"cost at a mean of 1 % late", func(f figures) string { return ratioText(f.mean1.cost) }},
		{
			"deadlines missed at 1 % asked, worst",
			func(f figures) string { return fmt.Sprintf("%.2f %%", 100*f.missed) },
		},
		{"first day at 1 % asked (mean late)", func(f figures) string { return pointText(f.firstDay) }},
	}
}

func pointText(p point) string { return fmt.Sprintf("%s (%.2f %%)", ratioText(p.cost), 100*p.late) }

// ratioText formats a ratio, or returns a dash if there is none.
func ratioText(v float64) string {
	if math.IsNaN(v) || v == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", v)
}
