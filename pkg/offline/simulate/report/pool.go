package report

import (
	"fmt"
	"strconv"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/report"
)

func (f figures) pool(w *compare.PoolResult) *report.Record {
	p := &w.Pool
	var r report.Record
	r.Data("pool", p.Name)
	r.Data("member", p.Member)
	r.Data("membersPlayed", w.Members)
	r.Data("quantile", p.Spec.Quantile)
	r.Data("min", p.Spec.Min)
	r.Data("max", p.Spec.Max)
	r.Data("fallback", p.Spec.Fallback)
	r.Data("idleGpuHoursPerDay", nullUnless(p.Spec.Budget, p.Spec.Budget))
	r.Data("chunksPerReplica", p.Chunks)
	r.Data("gpusPerChunk", p.Spec.GPUs)
	r.Data("verdict", w.Verdict)
	r.Data("notes", append([]string{}, w.Notes...))
	r.Data("trials", report.Records(w.Trials, f.trial))
	return &r
}

func (f figures) trial(r *report.Record, t *compare.Trial) {
	hours := t.Report.ReplicaHours * f.GPUs
	budget := 0.0
	if t.Holding == compare.HoldPlanned {
		budget = t.Budget
	}
	r.Add("policy", "policy and capacity held", t.Policy, describeTrial(t))
	r.Data("target", t.Target)
	r.Data("holding", t.Holding)
	r.Data("budget", nullUnless(budget, budget))
	r.Data("asWritten", t.OwnBudget)
	r.Data("spareChunks", t.FixedChunks)
	r.Data("hindsight", t.Hindsight)
	r.Data("meetsObjective", t.MeetsObjective)
	r.Number("gpuHours", "GPU-hours", hours, humanize.Amount)
	f.dollars(r, hours, f.GPUPrice)
	r.Data("idleGpuHours", t.Report.IdleReplicaHours*f.GPUs)
	r.Number("idleGpuHoursPerDay", "idle/day", t.IdlePerDay()*f.GPUs, humanize.Amount)
	limited := formatLimited(t.Limited, t.MeetsObjective)
	r.Add("lateFraction", headIf(!f.BadHours, f.LimitedName()), t.Report.LateShare(), limited)
	r.Add("badHoursFraction", headIf(f.BadHours, f.LimitedName()), t.Report.BadHours.Share(), limited)
	r.Data("starts", t.Report.Started)
	r.Add("startsThatWaited", "waited", t.Report.WaitedForNode, waitedShare(&t.Report))
	r.Add("meanWaitSeconds", "min", t.Report.MeanNodeWait(), formatDecimal(t.Report.MeanNodeWait().Minutes(), 1))
	r.Data("coveredFraction", t.Pool.Share(t.Pool.Covered))
	r.Data("fallbackFraction", t.Pool.Share(t.Pool.FellBack))
	r.Data("overBudgetFraction", t.Pool.Share(t.Pool.OverBudget))
}

// poolAnswer describes the gain of a warm pool by budget.
func (f figures) poolAnswer(w *compare.PoolResult) answer {
	out := answer{
		Title:  "Warm pool",
		Answer: w.Verdict,
		Rows:   report.Records(w.Trials, f.trial),
		Notes: append([]string{
			describePool(&w.Pool),
			"Idle/day is the number of GPU-hours a day that the pool held and no replica used. They are included in the " +
				"GPU-hours. Waited is the share of new replicas that waited for a node. Min is the mean wait of all new " +
				"replicas, in minutes.",
		}, w.Notes...),
	}
	for i := range w.Trials {
		if t := &w.Trials[i]; len(t.Timeline) > 1 {
			out.Timelines = timelineCharts([]compare.PolicyResult{{
				Name: compare.Forewarm, Report: t.Report, Timeline: t.Timeline, MeetsObjective: t.MeetsObjective,
			}}, "warm")
		}
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

// describeTrial describes a trial.
func describeTrial(t *compare.Trial) string {
	switch t.Holding {
	case compare.HoldPlanned:
		budget := "no budget"
		if t.Budget > 0 {
			budget = humanize.Amount(t.Budget) + "/day"
		}
		if t.OwnBudget {
			budget += " (as configured)"
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

// describePool describes the pool's settings.
func describePool(p *compare.Pool) string {
	budget := "no budget"
	if p.Spec.Budget > 0 {
		budget = "a budget of " + humanize.Amount(p.Spec.Budget) + " idle GPU-hours a day"
	}
	takes, of := "one chunk", "of one GPU"
	if n := p.Chunks; n != 1 {
		takes = strconv.FormatFloat(n, 'f', -1, 64) + " chunks"
	}
	if n := p.Spec.GPUs; n != 1 {
		of = "of " + strconv.FormatFloat(n, 'f', -1, 64) + " GPUs each"
	}
	asked := &p.Spec
	return fmt.Sprintf(
		"¹ With the target and the number of chunks that are the best in hindsight. The pool is %s, with "+
			"the member %s. It covers the %s quantile and holds %d to %d chunks. Its fallback is %s, and it has %s. "+
			"A replica takes %s %s.",
		p.Name,
		p.Member,
		humanize.Number(asked.Quantile),
		asked.Min,
		asked.Max,
		humanize.Plural(asked.Fallback, "chunk"),
		budget,
		takes,
		of,
	)
}
