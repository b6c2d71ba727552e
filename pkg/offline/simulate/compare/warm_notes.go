package compare

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// warmNotes are what a reader must know before they trust what is said of a pool.
func (p *plan) warmNotes(w *Warm) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	note("A node has room for %s and stays %s after its last replica. A replica that finds no place sends for one; a "+
		"place that is held is paid for like any other.", replicasOf(p.Pool.placesOfNode()), clock(keep))
	if p.Pool.places(p.Pool.Asked.Max) == 0 {
		note("The pool's max, %d chunks, is less than a replica takes, %s: it never helps.", p.Pool.Asked.Max,
			number(p.Pool.Chunks))
	}
	if w.Members == 1 {
		note("One member was played. Alone it shares nothing: a place that is held costs as much as a replica there " +
			"would, and that is ready at once. A pool gains by being shared, as not all members rise together.")
	} else {
		note("The history is that of %s. The other members' are not known: they are taken to be like it, whole days "+
			"apart, so that their days have one shape and their bursts come at different times. All figures are of "+
			"all %d.", p.Pool.Member, w.Members)
	}
	if n := p.Pool.Members; n > w.Members {
		note("The pool has %d members, of which %d were played: more whole days are not in the history, or would take "+
			"too long.", n, w.Members)
	}
	own := w.of(Forewarm, Planned)
	if own == nil {
		return out
	}
	t := &own.Pool
	note("For %s of the time the pool covered what could be wanted before a node would come, and Forewarm looked "+
		"ahead by %s alone.", humanize.Share(t.Share(t.Covered)), clock(p.Lead.planned()))
	if t.FellBack > 0 {
		note("For %s of the time nothing was known to plan by, and the pool fell back on %d chunks.",
			humanize.Share(t.Share(t.FellBack)), p.Pool.Asked.Fallback)
	}
	if t.OverBudget > 0 {
		note("For %s of the time its budget was spent: then it holds no more than its fallback, %d chunks.",
			humanize.Share(t.Share(t.OverBudget)), p.Pool.Asked.Fallback)
	}
	p.matchedSpare(own, note)
	if best := w.best(Planned); best != nil && !best.Own {
		why := "the cheapest within the objective"
		if !best.Meets {
			why = "the least late"
		}
		note("Of the budgets played %s is %s: %s GPU-hours with %s late.", budgetOf(best), why,
			humanize.Amount(best.Report.Replicas*p.GPUs), humanize.Share(best.Report.LateShare()))
	}
	return out
}

// matchedSpare is what a fixed number of chunks would have cost had it been as late as the pool was, which the verdict
// compares only under the objective.
func (p *plan) matchedSpare(own *Trial, note noting) {
	all := slices.Concat(p.warm.fixed, p.warm.tuned)
	if len(all) == 0 {
		return
	}
	all = slices.DeleteFunc(all, func(t Trial) bool { return t.Report.LateShare() > own.Report.LateShare() })
	if len(all) == 0 {
		note("No fixed number of chunks that was tried is as seldom late as the pool was (%s).",
			humanize.Share(own.Report.LateShare()))
		return
	}
	cheapest := slices.MinFunc(all, func(a, b Trial) int { return cmp.Compare(a.Report.Replicas, b.Report.Replicas) })
	note("No later than the pool was (%s), the cheapest fixed number is %s beside %s: it would have taken %s "+
		"GPU-hours.", humanize.Share(own.Report.LateShare()), chunks(cheapest.Spare), cheapest.beside(),
		humanize.Amount(cheapest.Report.Replicas*p.GPUs))
}

// budgetOf is the budget of a pool in words.
func budgetOf(t *Trial) string {
	if t.Budget == 0 {
		return "none"
	}
	return humanize.Amount(t.Budget) + " idle GPU-hours a day"
}

func replicasOf(n int) string {
	if n == 1 {
		return "one replica"
	}
	return humanize.Count(n) + " replicas"
}

// clock is a duration in minutes, where it is a whole number of them.
func clock(d time.Duration) string {
	if d%time.Minute == 0 {
		return number(d.Minutes()) + " min"
	}
	return d.String()
}
