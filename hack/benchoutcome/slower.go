package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// slower is forewarm with a longer time between refreshes.
type slower struct {
	step    time.Duration
	results []result
}

// playSlower plays forewarm on the recorded traces, refreshed less often, with constant lead times. Priors are fitted with the
// same step.
func playSlower(
	traces []recorded, o options, progress io.Writer, each func(*trial, line) error,
) ([]slower, error) {
	r, played := summary{policies: o.policies}.forewarm()
	if !played || o.lead.p90 > 0 {
		return nil, nil
	}
	o.policies, o.firstDay = []benchPolicy{r}, false
	var counted []recorded
	for _, t := range traces {
		if t.counts() {
			counted = append(counted, t)
		}
	}
	var out []slower
	for _, step := range o.slower {
		if step <= o.step || len(counted) == 0 {
			continue
		}
		o := o
		o.step = step
		fmt.Fprintf(progress, "refreshed every %s\n", o.step)
		results, err := playAll(newTrials(counted, o), o, progress, each)
		if err != nil {
			return nil, err
		}
		out = append(out, slower{step, results})
	}
	return out, nil
}

// costs are those of one setting for all traces: at the matched mean lateness, and with the worst trace at 2 %.
type costs struct {
	byMean []float64
	worst  float64
}

func (s summary) costs(r benchPolicy, trials []*trial) costs {
	byMean, byWorst := s.fronts(r, trials)
	c := costs{worst: costAt(byWorst, 0.02)}
	for _, late := range matchedLateness() {
		c.byMean = append(c.byMean, costAt(byMean, late))
	}
	return c
}

// mean is over the matched lateness.
func (c costs) mean() float64 {
	sum := 0.0
	for _, cost := range c.byMean {
		sum += cost
	}
	return sum / float64(len(c.byMean))
}

// more is by how much the mean is over another's, in percent.
func (c costs) more(than costs) float64 { return 100 * (c.mean()/than.mean() - 1) }

// costsHeading is that of the rows of costs beside one another.
func costsHeading(what string) string {
	return "| " + what + " | .5 % | 1 % | 2 % | worst trace ≤ 2 % | over |\n|---|--:|--:|--:|--:|--:|\n"
}

// row is a line of the table under costsHeading.
func (c costs) row(name string, base costs) string {
	cells := []string{name}
	for _, cost := range append(slices.Clone(c.byMean), c.worst) {
		cells = append(cells, formatCost(cost))
	}
	more := "–"
	if v := c.more(base); !math.IsNaN(v) {
		more = fmt.Sprintf("%+.1f %%", v)
	}
	return "| " + strings.Join(append(cells, more), " | ") + " |\n"
}

func (s summary) slowerTable(text *strings.Builder) {
	r, _ := s.forewarm()
	if len(s.slower) == 0 {
		return
	}
	fmt.Fprintf(
		text,
		"\n**Refreshed less often**: forewarm, cost of one objective for all traces at a mean lateness, and over "+
			"that of a refresh every %s\n\n%s",
		s.options.step,
		costsHeading("refresh every"),
	)
	base := s.costs(r, s.trials((*trial).counts))
	text.WriteString(base.row(s.options.step.String(), base))
	for _, slow := range s.slower {
		at := summary{results: slow.results}
		text.WriteString(at.costs(r, at.trials((*trial).counts)).row(slow.step.String(), base))
	}
}

// slowerGoals bound what a refresh every minute costs more than one every 15 s.
func (s summary) slowerGoals() []goal {
	g := goal{
		what: "forewarm refreshed every 60 s: cost over that at 15 s, the mean of late .5, 1 and 2 %",
		most: 8, format: asPercent, unplayed: true,
	}
	for _, slow := range s.slower {
		if slow.step != time.Minute || s.options.step != sync {
			continue
		}
		g = s.bound(g, s.studied, func(r benchPolicy, trials []*trial) float64 {
			at := summary{results: slow.results}
			return at.costs(r, at.trials(at.studied)).more(s.costs(r, trials))
		})
		g.unplayed = false
	}
	return []goal{g}
}
