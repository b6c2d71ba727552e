package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// warmOf says whether a warm pool pays, and under which budget.
func warmOf(w *compare.Warm, a *compare.Assumptions) section {
	out := section{
		Title:  "Warm pool",
		Answer: w.Verdict,
		Heads:  []string{"policy, and what is held ready", "GPU-hours", "$", "idle/day", "late", "waited", "min"},
		Notes: append([]string{
			poolWords(&w.Pool),
			"Idle/day are the GPU-hours a day that were held and that no replica had taken; they are among the GPU-hours. Waited " +
				"is the share of the starts that found no place and waited for a node; min is for how long, the mean over all.",
		}, w.Notes...),
	}
	for i := range w.Trials {
		t := &w.Trials[i]
		late := lateness(t.Report.LateShare(), t.Meets)
		hours := t.Report.Replicas * a.GPUs
		idle, wait := humanize.Amount(t.IdlePerDay()*a.GPUs), decimal(t.Report.MeanWait().Minutes(), 1)
		out.Lines = append(out.Lines, []string{
			holds(t), humanize.Amount(hours), humanize.Amount(hours * a.GPUPrice), idle, late, waited(&t.Report), wait,
		})
		if len(t.Course) > 1 {
			out.Courses = courses([]compare.Policy{{
				Name: compare.Forewarm, Report: t.Report, Course: t.Course, Meets: t.Meets,
			}}, "warm")
		}
	}
	if a.GPUPrice == 0 {
		out.drop(2)
	}
	return out
}

// waited is the share of the starts that waited for a node.
func waited(r *simulate.Report) string {
	if r.Started == 0 {
		return humanize.Unknown
	}
	return decimal(100*float64(r.Queued)/float64(r.Started), 0) + "%"
}

// drop leaves out a column.
func (s *section) drop(column int) {
	s.Heads = slices.Delete(s.Heads, column, column+1)
	for i, line := range s.Lines {
		s.Lines[i] = slices.Delete(line, column, column+1)
	}
}

// holds is a trial in words.
func holds(t *compare.Trial) string {
	switch t.Holding {
	case compare.Planned:
		budget := "no bound"
		if t.Budget > 0 {
			budget = humanize.Amount(t.Budget) + "/day"
		}
		if t.Own {
			budget += ", as written"
		}
		return t.Policy + ", pool of " + budget
	case compare.Fixed:
		return t.Policy + ", " + counted(t.Spare, "chunk") + " fixed¹"
	case compare.None:
	}
	if t.Hindsight {
		return t.Policy + "¹"
	}
	return t.Policy
}

// poolWords are what the pool asks for.
func poolWords(p *compare.Pool) string {
	budget := "without a budget"
	if p.Asked.Budget > 0 {
		budget = "with a budget of " + humanize.Amount(p.Asked.Budget) + " idle GPU-hours a day"
	}
	takes, of := "one chunk", "of one GPU"
	if n := p.Chunks; n != 1 {
		takes = strconv.FormatFloat(n, 'f', -1, 64) + " chunks"
	}
	if n := p.Asked.GPUs; n != 1 {
		of = "of " + strconv.FormatFloat(n, 'f', -1, 64) + " GPUs each"
	}
	asked := &p.Asked
	return fmt.Sprintf("¹ The target and the number of chunks that were the best in hindsight. The pool is %s, "+
		"with member %s: it covers the %s quantile, holds %d to %d chunks, %d as a fallback, %s; "+
		"a replica takes %s %s.", p.Name, p.Member, humanize.Number(asked.Quantile), asked.Min, asked.Max, asked.Fallback,
		budget, takes, of)
}
