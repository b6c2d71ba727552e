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
	with, bare, several := &own.Report, &without.Report, ""
	if members > 1 {
		several = fmt.Sprintf(" for %d members", members)
	}
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
			"against %s without.",
		head,
		formatDays(with.Duration),
		c.gpuHoursText(with),
		several,
		humanize.Amount(with.IdleReplicaHours*c.Assumptions.GPUs),
		c.savingText(with, bare),
		c.limitedText(with),
		c.limitedText(bare),
		roundedMinutes(with.MeanNodeWait()),
		roundedMinutes(bare.MeanNodeWait()),
	)
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
		humanize.Plural(best.FixedChunks, "chunk"), best.alternativesText(), c.gpuHoursText(&best.Report),
		c.limitedText(&best.Report))
}

// alternativesText names the policy that scales with a fixed number of chunks.
func (t *Trial) alternativesText() string {
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
	if a.MeetsObjective && b.MeetsObjective {
		return a.Report.ReplicaHours < b.Report.ReplicaHours
	}
	return a.Limited < b.Limited
}

// roundedMinutes have a tenth of one.
func roundedMinutes(d time.Duration) string {
	return formatNumber(math.Round(d.Minutes()*10)/10) + " min"
}

// poolNotes are the caveats of a pool's result.
func (p *plan) poolNotes(w *PoolResult) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	room := humanize.Plural(p.Pool.placesOfNode(), "replica")
	if p.Pool.placesOfNode() == 1 {
		room = "one replica"
	}
	note("A node has room for %s and stays for %s after its last replica. A replica without a place waits for a new "+
		"node. A held place is paid for like any other.", room, formatMinutes(keepIdleNode))
	if p.Pool.places(p.Pool.Spec.Max) == 0 {
		note("The pool's max, %d chunks, is less than a replica takes, %s: the pool never helps.", p.Pool.Spec.Max,
			formatNumber(p.Pool.Chunks))
	}
	if w.Members == 1 {
		note(
			"Only one member was simulated, so nothing is shared: a held place costs as much as a replica on it, which " +
				"would be ready at once. A pool gains when members that do not rise together share it.",
		)
	} else {
		note(
			"The history is that of %s. The other members are assumed to have the same history, shifted by whole days: "+
				"the same daily pattern, with bursts at different times. All figures are totals of all %d members.",
			p.Pool.Member,
			w.Members,
		)
	}
	if n := p.Pool.Members; n > w.Members {
		note(
			"The pool has %d members, of which %d were simulated: the history has no more whole days, or more would take "+
				"too long.",
			n,
			w.Members,
		)
	}
	own := w.of(Forewarm, HoldPlanned)
	if own == nil {
		return out
	}
	t := &own.Pool
	note("For %s of the time the pool covered all replicas that could be needed before a new node arrives, and "+
		"Forewarm looked ahead by only %s.", humanize.Share(t.Share(t.Covered)), formatMinutes(p.Lead.planned()))
	if t.FellBack > 0 {
		note("For %s of the time there was no forecast to plan with, and the pool held its fallback, %d chunks.",
			humanize.Share(t.Share(t.FellBack)), p.Pool.Spec.Fallback)
	}
	if t.OverBudget > 0 {
		note("For %s of the time the budget was spent, and the pool held at most its fallback, %d chunks.",
			humanize.Share(t.Share(t.OverBudget)), p.Pool.Spec.Fallback)
	}
	said := Assumptions{BadHours: p.BadHours}
	p.matchedFixedNote(&said, own, note)
	if best := w.best(HoldPlanned); best != nil && !best.OwnBudget {
		why := "the cheapest within the objective"
		if !best.MeetsObjective {
			why = "the least late"
		}
		note("Of the simulated budgets, %s is %s: %s GPU-hours with %s %s.", formatBudget(best), why,
			humanize.Amount(best.Report.ReplicaHours*p.GPUs), humanize.Share(best.Limited), said.LimitedWord())
	}
	return out
}

// matchedFixedNote is the cost of a fixed number of chunks at the pool's lateness. The verdict compares only under
// the objective.
func (p *plan) matchedFixedNote(said *Assumptions, own *Trial, note noteFunc) {
	all := slices.Concat(p.pool.fixed, p.pool.tuned)
	if len(all) == 0 {
		return
	}
	all = slices.DeleteFunc(all, func(t Trial) bool { return t.Limited > own.Limited })
	if len(all) == 0 {
		note("No fixed number of chunks that was tried has as little %s as the pool (%s).",
			said.LimitedDemand(), humanize.Share(own.Limited))
		return
	}
	cheapest := slices.MinFunc(all,
		func(a, b Trial) int { return cmp.Compare(a.Report.ReplicaHours, b.Report.ReplicaHours) })
	note("With no more %s than the pool (%s), the cheapest fixed number is %s with %s: %s GPU-hours.",
		said.LimitedDemand(), humanize.Share(own.Limited), humanize.Plural(cheapest.FixedChunks, "chunk"),
		cheapest.alternativesText(), humanize.Amount(cheapest.Report.ReplicaHours*p.GPUs))
}

// formatBudget is the budget of a pool in words.
func formatBudget(t *Trial) string {
	if t.Budget == 0 {
		return "none"
	}
	return humanize.Amount(t.Budget) + " idle GPU-hours a day"
}

// formatMinutes is a duration in minutes, where it is a whole number of them.
func formatMinutes(d time.Duration) string {
	if d%time.Minute == 0 {
		return formatNumber(d.Minutes()) + " min"
	}
	return d.String()
}
