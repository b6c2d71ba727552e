package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// poolResult returns the result of a pool; nil if there is no pool, or nothing of it was simulated.
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

// budgetLimit converts a budget to a number that can be compared. No budget counts as infinite.
func budgetLimit(budget float64) float64 {
	if budget == 0 {
		return math.Inf(1)
	}
	return budget
}

// of returns the first trial of a policy with a holding; nil if there is none.
func (w *PoolResult) of(policy string, h Holding) *Trial {
	i := slices.IndexFunc(w.Trials, func(t Trial) bool {
		return t.Policy == policy && t.Holding == h && (h != HoldPlanned || t.OwnBudget)
	})
	if i < 0 {
		return nil
	}
	return &w.Trials[i]
}

// poolVerdict compares the pool with no pool, and with a number of chunks that never changes. Disadvantages of the pool come first.
func (c *Comparison) poolVerdict(w *PoolResult) string {
	own, without := w.of(Forewarm, HoldPlanned), w.of(Forewarm, HoldNothing)
	if own == nil || without == nil {
		return "The simulation was interrupted before the pool was compared."
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
	head := "The pool pays off. "
	pays = true
	switch {
	case own.MeetsObjective && !without.MeetsObjective:
		head = "The pool pays off: the objective is met only with the pool. "
	case !own.MeetsObjective && without.MeetsObjective:
		pays, head = false, "The pool does not pay off: with the pool, the objective is missed. "
	case with.ReplicaHours > bare.ReplicaHours:
		pays, head = false, "The pool costs more than it saves. "
	case with.ReplicaHours == bare.ReplicaHours:
		pays, head = false, "The pool does not change the cost. "
	case !own.MeetsObjective:
		head = "The pool saves GPU-hours, but the objective is missed both with and without it. "
	}
	return pays, fmt.Sprintf(
		"%sOver %s, Forewarm with the pool would have used %s%s, including %s idle GPU-hours. That is %s than without the pool. "+
			"%s A new replica would have waited %s for a node on average, instead of %s without the pool.",
		head,
		formatDays(with.Duration),
		c.gpuHoursText(with),
		several,
		humanize.Amount(with.IdleReplicaHours*c.Assumptions.GPUs),
		c.savingText(with, bare),
		c.reliabilityText(with, bare),
		roundedMinutes(with.MeanNodeWait()),
		roundedMinutes(bare.MeanNodeWait()),
	)
}

// reliabilityText compares what the objective limits with and without the pool.
func (c *Comparison) reliabilityText(with, bare *simulate.Report) string {
	if c.Assumptions.BadHours {
		return fmt.Sprintf("It would have had %s with the pool, and %s without the pool.", c.limitedText(with),
			c.limitedText(bare))
	}
	return fmt.Sprintf("%s of the demand would have been late with the pool, and %s without the pool.",
		humanize.Share(with.LateShare()), humanize.Share(bare.LateShare()))
}

// againstFixed compares the pool with the better of two fixed numbers of chunks, one with Forewarm and one with the
// autoscaler, and reports whether the pool loses.
func (c *Comparison) againstFixed(w *PoolResult, own *Trial) (loses bool, text string) {
	best := w.best(HoldFixed)
	if best == nil {
		return false, ""
	}
	head := "No fixed number of chunks is better. "
	if loses = betterTrial(best, own); loses {
		head = "A fixed number of chunks is better. "
	}
	return loses, fmt.Sprintf(
		"%sThe best fixed number in hindsight is %s with %s. It would have used %s, with %s.",
		head,
		humanize.Plural(best.FixedChunks, "chunk"),
		best.alternativesText(),
		c.gpuHoursText(&best.Report),
		c.limitedText(&best.Report),
	)
}

// alternativesText names the policy that scales with a fixed number of chunks.
func (t *Trial) alternativesText() string {
	if t.Policy == BestTarget {
		return "this HPA at target " + formatNumber(t.Target)
	}
	return "Forewarm"
}

// best returns the best trial with a holding; nil if there is none.
func (w *PoolResult) best(h Holding) *Trial {
	return bestTrial(slices.DeleteFunc(slices.Clone(w.Trials), func(t Trial) bool { return t.Holding != h }))
}

// bestTrial returns the best of some trials; nil if there are none.
func bestTrial(all []Trial) *Trial {
	var best *Trial
	for i := range all {
		if best == nil || betterTrial(&all[i], best) {
			best = &all[i]
		}
	}
	return best
}

// betterTrial reports whether a is better than b: cheaper if both meet the objective, the only one that meets it, or the less late one if
// neither does.
func betterTrial(a, b *Trial) bool {
	if a.MeetsObjective && b.MeetsObjective {
		return a.Report.ReplicaHours < b.Report.ReplicaHours
	}
	return a.Limited < b.Limited
}

// roundedMinutes formats minutes with one decimal.
func roundedMinutes(d time.Duration) string {
	return formatNumber(math.Round(d.Minutes()*10)/10) + " min"
}

// poolNotes returns the caveats of a pool's result.
func (p *plan) poolNotes(w *PoolResult) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	room := humanize.Plural(p.Pool.placesOfNode(), "replica")
	if p.Pool.placesOfNode() == 1 {
		room = "one replica"
	}
	note(
		"A node has room for %s and is kept for %s after its last replica has stopped. A replica that does not fit on a node "+
			"waits for a new node. Room that the pool holds costs the same as room in use.",
		room,
		formatMinutes(keepIdleNode),
	)
	if p.Pool.places(p.Pool.Spec.Max) == 0 {
		note("The pool's max is %d chunks, but a replica takes %s, so the pool never helps.", p.Pool.Spec.Max,
			formatNumber(p.Pool.Chunks))
	}
	p.memberNotes(w, note)
	own := w.of(Forewarm, HoldPlanned)
	if own == nil {
		return out
	}
	t := &own.Pool
	note(
		"For %s of the time, the pool covered all replicas that could be needed before a new node arrives. During that "+
			"time, Forewarm looked ahead by only %s.",
		humanize.Share(t.Share(t.Covered)),
		formatMinutes(p.Lead.planned()),
	)
	if t.FellBack > 0 {
		note("For %s of the time, there was no forecast to plan with, and the pool held its fallback of %d chunks.",
			humanize.Share(t.Share(t.FellBack)), p.Pool.Spec.Fallback)
	}
	if t.OverBudget > 0 {
		note("For %s of the time, the budget was spent, and the pool held at most its fallback of %d chunks.",
			humanize.Share(t.Share(t.OverBudget)), p.Pool.Spec.Fallback)
	}
	said := Assumptions{BadHours: p.BadHours}
	p.matchedFixedNote(&said, own, note)
	if best := w.best(HoldPlanned); best != nil && !best.OwnBudget {
		why := "is the cheapest that meets the objective"
		if !best.MeetsObjective {
			why = "is the most reliable"
		}
		note("Of the simulated budgets, %s %s: %s GPU-hours with %s %s.", formatBudget(best), why,
			humanize.Amount(best.Report.ReplicaHours*p.GPUs), humanize.Share(best.Limited), said.LimitedWord())
	}
	return out
}

// memberNotes adds notes about the members of the pool and their histories.
func (p *plan) memberNotes(w *PoolResult, note noteFunc) {
	if w.Members == 1 {
		note(
			"Only one member was simulated, so the pool is not shared. Holding room for a replica then costs as much as running " +
				"the replica, which would be ready immediately. A pool saves more when several members share it and their demand " +
				"rises at different times.",
		)
	} else {
		note(
			"The history is the history of %s. Forewarm assumes that the other members have the same history, shifted by whole "+
				"days: the same daily pattern, with bursts at different times. All figures are totals of all %d members.",
			p.Pool.Member,
			w.Members,
		)
	}
	if n := p.Pool.Members; n > w.Members {
		note(
			"The pool has %d members, but only %d were simulated. The history does not have enough whole days for more members, "+
				"or simulating more members would take too long.",
			n,
			w.Members,
		)
	}
}

// matchedFixedNote adds the cost of a fixed number of chunks at the pool's lateness. The verdict only compares trials that meet the
// objective.
func (p *plan) matchedFixedNote(said *Assumptions, own *Trial, note noteFunc) {
	all := slices.Concat(p.pool.fixed, p.pool.tuned)
	if len(all) == 0 {
		return
	}
	all = slices.DeleteFunc(all, func(t Trial) bool { return t.Limited > own.Limited })
	if len(all) == 0 {
		note("No simulated fixed number of chunks has as little %s as the pool (%s).",
			said.LimitedDemand(), humanize.Share(own.Limited))
		return
	}
	cheapest := slices.MinFunc(all,
		func(a, b Trial) int { return cmp.Compare(a.Report.ReplicaHours, b.Report.ReplicaHours) })
	note("The cheapest fixed number with no more %s than the pool (%s) is %s with %s. It uses %s GPU-hours.",
		said.LimitedDemand(), humanize.Share(own.Limited), humanize.Plural(cheapest.FixedChunks, "chunk"),
		cheapest.alternativesText(), humanize.Amount(cheapest.Report.ReplicaHours*p.GPUs))
}

// formatBudget describes the budget of a pool.
func formatBudget(t *Trial) string {
	if t.Budget == 0 {
		return "no budget"
	}
	return humanize.Amount(t.Budget) + " idle GPU-hours a day"
}

// formatMinutes formats a duration in minutes if it is a whole number of minutes.
func formatMinutes(d time.Duration) string {
	if d%time.Minute == 0 {
		return formatNumber(d.Minutes()) + " min"
	}
	return d.String()
}
