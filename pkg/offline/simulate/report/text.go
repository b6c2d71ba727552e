package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/report"
)

// minWidth is the minimum width of the table; narrower terminals wrap it.
const minWidth = 60

// Text is a comparison for a terminal of a width: the capacity, the verdict, the table, the charts, the answers, the
// assumptions and the caveats.
func Text(c *compare.Comparison, width int) string {
	width = max(width, minWidth)
	all := []report.Section{
		{Sentences: []string{c.Doubt}},
		{Sentences: []string{describeCapacity(&c.Assumptions)}},
		{Sentences: []string{verdictOf(c)}},
		{Sentences: []string{interrupted(c)}},
		policiesSection(c), coursesSection(c, width), frontierSection(c, width),
	}
	answered := answers(c)
	for i := range answered {
		all = append(all, answered[i].sections()...)
	}
	all = append(all, report.Section{Title: "Assumptions", Facts: newFigures(c).assumptions()},
		report.Section{Title: "Caveats", Items: c.Notes})
	return report.Text(all, width)
}

// verdictOf returns the verdict, or why there is none, unless that is already shown at the top.
func verdictOf(c *compare.Comparison) string {
	if c.Doubt != "" {
		return ""
	}
	return cmp.Or(c.Verdict, c.NoVerdict)
}

// interrupted says what a reader must know about a comparison that was not finished; empty if it was finished.
func interrupted(c *compare.Comparison) string {
	if c.Partial {
		return "Interrupted: the figures are correct, but some policies or settings are missing."
	}
	return ""
}

// policiesSection has a row for each policy, and explains the marks.
func policiesSection(c *compare.Comparison) report.Section {
	var hindsight, missed string
	for i := range c.Policies {
		if c.Policies[i].Hindsight {
			hindsight = "¹ with the best target in hindsight"
		}
		if !c.Policies[i].MeetsObjective {
			missed = "! misses the objective: more than " + humanize.ShareAsWritten(c.Assumptions.Objective) + " " +
				c.Assumptions.LimitedWord()
			if c.Assumptions.Deferrable > 0 {
				missed += ", or more than that share of the work that may wait missed its deadline"
			}
		}
	}
	return report.Section{
		Table: report.Records(c.Policies, newFigures(c).policy), Notes: []string{hindsight, missed},
	}
}

// coursesSection draws the demand over time, and below it the late demand of each policy, with one bar for each interval.
func coursesSection(c *compare.Comparison, width int) report.Section {
	// The width of the names to the left of the bars, and the maximum width of the section.
	const named, maxColumns = 17, 120
	const moment = "Mon 2 Jan 15:04"
	across := min(width, maxColumns) - named
	var first []compare.Slot // Any timeline, for the time axis of all.
	worst := 0.0
	for i := range c.Policies {
		if p := &c.Policies[i]; len(p.Timeline) > 0 {
			worst = max(worst, chart.HighestValue(valuesOf(resampled(p.Timeline, across), late)))
			if len(p.Timeline) > len(first) {
				first = p.Timeline
			}
		}
	}
	if first == nil {
		return report.Section{}
	}
	var drawing strings.Builder
	bars := func(name string, values []float64, top float64) {
		fmt.Fprintf(&drawing, "%-*s%s\n", named, name, chart.Bars(values, top))
	}
	came := valuesOf(resampled(first, across), demand)
	bars("demand", came, chart.HighestValue(came))
	for i := range c.Policies {
		if p := &c.Policies[i]; len(p.Timeline) > 0 {
			bars(p.Name, valuesOf(resampled(p.Timeline, across), late), worst)
		}
	}
	return report.Section{
		Title: fmt.Sprintf("Demand, and late demand by policy, %s to %s UTC",
			first[0].Start.UTC().Format(moment), endOf(first).UTC().Format(moment)),
		Drawing: drawing.String(),
		Notes: []string{
			fmt.Sprintf(
				"In the demand row, a full bar means a demand of %s replicas. In the policy rows, "+
					"a full bar means that %s of the demand was late.",
				humanize.Amount(chart.HighestValue(came)),
				humanize.Share(worst),
			),
		},
	}
}
