package compare

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// poolNotes are the caveats of a pool's result.
func (p *plan) poolNotes(w *PoolResult) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	note("A node has room for %s and stays for %s after its last replica. A replica without a place waits for a new "+
		"node. A held place is paid for like any other.", formatReplicas(p.Pool.placesOfNode()), formatMinutes(keepIdleNode))
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
	note(
		"With no more %s than the pool (%s), the cheapest fixed number is %s with %s: %s GPU-hours.",
		said.LimitedDemand(),
		humanize.Share(own.Limited),
		humanize.Plural(cheapest.FixedChunks, "chunk"),
		cheapest.besideText(),
		humanize.Amount(cheapest.Report.ReplicaHours*p.GPUs),
	)
}

// formatBudget is the budget of a pool in words.
func formatBudget(t *Trial) string {
	if t.Budget == 0 {
		return "none"
	}
	return humanize.Amount(t.Budget) + " idle GPU-hours a day"
}

func formatReplicas(n int) string {
	if n == 1 {
		return "one replica"
	}
	return humanize.Count(n) + " replicas"
}

// formatMinutes is a duration in minutes, where it is a whole number of them.
func formatMinutes(d time.Duration) string {
	if d%time.Minute == 0 {
		return formatNumber(d.Minutes()) + " min"
	}
	return d.String()
}
