package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// poolResult is the result of a pool; nil without one, or if nothing of it was simulated.
func (p *plan) poolResult(c *Comparison) *PoolResult {
	if p.pool == nil {
		return nil
	}
	out := &PoolResult{Pool: *p.Pool, Members: p.pool.members.Count}
	out.Trials = append(out.Trials, p.pool.without...)
	if best := bestTrial(p.pool.withoutTuned); best != nil {
		best.Holding = HoldNothing
		out.Trials = slices.Insert(out.Trials, min(1, len(out.Trials)), *best)
	}
	planned := slices.Clone(p.pool.planned)
	slices.SortStableFunc(planned,
		func(a, b Trial) int { return cmp.Compare(budgetLimit(a.Budget), budgetLimit(b.Budget)) })
	out.Trials = append(out.Trials, planned...)
	for _, all := range [][]Trial{p.pool.fixed, p.pool.tuned} {
		if best := bestTrial(all); best != nil {
			out.Trials = append(out.Trials, *best)
		}
	}
	out.Verdict = c.poolVerdict(out)
	out.Notes = p.poolNotes(out)
	return out
}

// budgetLimit is a budget as a number that can be compared: none is more than any.
func budgetLimit(budget float64) float64 {
	if budget == 0 {
		return math.Inf(1)
	}
	return budget
}

// of is the first trial of a policy with a holding; nil where it was not played.
func (w *PoolResult) of(policy string, h Holding) *Trial {
	i := slices.IndexFunc(w.Trials, func(t Trial) bool {
		return t.Policy == policy && t.Holding == h && (h != HoldPlanned || t.OwnBudget)
	})
	if i < 0 {
		return nil
	}
	return &w.Trials[i]
}

// poolVerdict is the pool against doing without one, and against what costs nothing to have: a number of chunks that never
// changes. What it loses comes first.
func (c *Comparison) poolVerdict(w *PoolResult) string {
	own, without := w.of(Forewarm, HoldPlanned), w.of(Forewarm, HoldNothing)
	if own == nil || without == nil {
		return "Interrupted before the pool was compared."
	}
	pays, saves := c.againstNoPool(own, without, w.Members)
	loses, against := c.againstFixed(w, own)
	if loses && pays {
		return joinSentences(against, saves)
	}
	return joinSentences(saves, against)
}

// againstNoPool compares Forewarm with and without the pool, and reports whether the pool pays.
func (c *Comparison) againstNoPool(own, without *Trial, members int) (pays bool, text string) {
	with, bare := &own.Report, &without.Report
	head := "The pool pays. "
	pays = true
	switch {
	case own.MeetsObjective && !without.MeetsObjective:
		head = "The pool pays: the objective is met only with it. "
	case !own.MeetsObjective && without.MeetsObjective:
		pays, head = false, "The pool loses: with it, the objective is missed. "
	case with.ReplicaHours > bare.ReplicaHours:
		pays, head = false, "The pool costs more than it saves. "
	case with.ReplicaHours == bare.ReplicaHours:
		pays, head = false, "The pool changes nothing. "
	case !own.MeetsObjective:
		head = "The pool saves, but the objective is missed with it and without it. "
	}
	return pays, fmt.Sprintf(
		"%sOver %s Forewarm would have used %s with the pool%s, %s of them idle: %s than without. "+
			"It would have had %s with the pool, and %s without. A new replica would have waited %s for a node, "+
			"against %s without.", head, formatDays(with.Duration), c.gpuHoursText(with), membersText(members),
		c.idleText(own), c.savingText(with, bare), c.limitedText(with), c.limitedText(bare),
		roundedMinutes(with.MeanNodeWait()), roundedMinutes(bare.MeanNodeWait()),
	)
}

// membersText is the number of members, if there are several.
func membersText(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" for %d members", n)
}

// againstFixed is the pool beside the better of two numbers of chunks that never change, below forewarm and below the
// autoscaler, and whether the pool loses.
func (c *Comparison) againstFixed(w *PoolResult, own *Trial) (loses bool, text string) {
	best := w.best(HoldFixed)
	if best == nil {
		return false, ""
	}
	head := "No fixed number of chunks is as good. "
	if loses = betterTrial(best, own); loses {
		head = "A fixed number of chunks is better. "
	}
	return loses, fmt.Sprintf("%sThe best in hindsight, %s with %s, would have used %s with %s.", head,
		humanize.Plural(best.FixedChunks, "chunk"), best.besideText(), c.gpuHoursText(&best.Report),
		c.limitedText(&best.Report))
}

// besideText names the policy that scales with a fixed number of chunks.
func (t *Trial) besideText() string {
	if t.Policy == BestTarget {
		return "this HPA at target " + formatNumber(t.Target)
	}
	return "Forewarm"
}

// best of the trials with a holding; nil where none was played.
func (w *PoolResult) best(h Holding) *Trial {
	return bestTrial(slices.DeleteFunc(slices.Clone(w.Trials), func(t Trial) bool { return t.Holding != h }))
}

// bestTrial is the best of some trials; nil where there is none.
func bestTrial(all []Trial) *Trial {
	var best *Trial
	for i := range all {
		if best == nil || betterTrial(&all[i], best) {
			best = &all[i]
		}
	}
	return best
}

// betterTrial says whether a trial is cheaper within the objective, or the only one within it, or the less late of two
// that are not.
func betterTrial(a, b *Trial) bool {
	switch {
	case a.MeetsObjective != b.MeetsObjective:
		return a.MeetsObjective
	case a.MeetsObjective:
		return a.Report.ReplicaHours < b.Report.ReplicaHours
	}
	return a.Limited < b.Limited
}

func (c *Comparison) idleText(t *Trial) string {
	return humanize.Amount(t.Report.IdleReplicaHours * c.Assumptions.GPUs)
}

// roundedMinutes have a tenth of one.
func roundedMinutes(d time.Duration) string {
	return formatNumber(math.Round(d.Minutes()*10)/10) + " min"
}
