package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// poolSection is about the gain of a warm pool, by budget.
func poolSection(w *compare.PoolResult, a *compare.Assumptions) section {
	out := section{
		Title:  "Warm pool",
		Answer: w.Verdict,
		Heads:  []string{"policy and capacity held", "GPU-hours", "$", "idle/day", a.LimitedName(), "waited", "min"},
		Notes: append([]string{
			describePool(&w.Pool),
			"Idle/day is the GPU-hours a day that were held and not used; they are part of the GPU-hours. Waited is the " +
				"share of the starts that waited for a node; min is the mean wait over all starts, in minutes.",
		}, w.Notes...),
	}
	for i := range w.Trials {
		t := &w.Trials[i]
		late := formatLimited(t.Limited, t.MeetsObjective)
		hours := t.Report.ReplicaHours * a.GPUs
		idle, wait := humanize.Amount(t.IdlePerDay()*a.GPUs), formatDecimal(t.Report.MeanNodeWait().Minutes(), 1)
		out.Lines = append(out.Lines, []string{
			describeTrial(t), humanize.Amount(hours), humanize.Amount(hours * a.GPUPrice), idle, late,
			waitedShare(&t.Report), wait,
		})
		if len(t.Timeline) > 1 {
			out.Timelines = timelineCharts([]compare.PolicyResult{{
				Name: compare.Forewarm, Report: t.Report, Timeline: t.Timeline, MeetsObjective: t.MeetsObjective,
			}}, "warm")
		}
	}
	if a.GPUPrice == 0 {
		out.drop(2)
	}
	return out
}

// waitedShare is the share of the starts that waited for a node.
func waitedShare(r *simulate.Report) string {
	if r.Started == 0 {
		return humanize.Unknown
	}
	return formatDecimal(100*float64(r.WaitedForNode)/float64(r.Started), 0) + "%"
}

// drop leaves out a column.
func (s *section) drop(column int) {
	s.Heads = slices.Delete(s.Heads, column, column+1)
	for i, line := range s.Lines {
		s.Lines[i] = slices.Delete(line, column, column+1)
	}
}

// describeTrial is a trial in words.
func describeTrial(t *compare.Trial) string {
	switch t.Holding {
	case compare.HoldPlanned:
		budget := "no budget"
		if t.Budget > 0 {
			budget = humanize.Amount(t.Budget) + "/day"
		}
		if t.OwnBudget {
			budget += " (as written)"
		}
		return t.Policy + ", pool with " + budget
	case compare.HoldFixed:
		return t.Policy + ", " + humanize.Plural(t.FixedChunks, "chunk") + " at all times¹"
	case compare.HoldNothing:
	}
	if t.Hindsight {
		return t.Policy + "¹"
	}
	return t.Policy
}

// describePool are what the pool asks for.
func describePool(p *compare.Pool) string {
	budget := "without a budget"
	if p.Spec.Budget > 0 {
		budget = "with a budget of " + humanize.Amount(p.Spec.Budget) + " idle GPU-hours a day"
	}
	takes, of := "one chunk", "of one GPU"
	if n := p.Chunks; n != 1 {
		takes = strconv.FormatFloat(n, 'f', -1, 64) + " chunks"
	}
	if n := p.Spec.GPUs; n != 1 {
		of = "of " + strconv.FormatFloat(n, 'f', -1, 64) + " GPUs each"
	}
	asked := &p.Spec
	return fmt.Sprintf("¹ With the target and the number of chunks that are best in hindsight. The pool is %s, with "+
		"member %s. It covers the %s quantile and holds %d to %d chunks, %d as fallback, %s. A replica takes %s %s.",
		p.Name, p.Member, humanize.Number(asked.Quantile), asked.Min, asked.Max, asked.Fallback, budget, takes, of)
}
