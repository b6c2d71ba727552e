package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// warmed is what came of a pool; nil without one, or where nothing of it was played.
func (p *plan) warmed(c *Comparison) *Warm {
	if p.warm == nil {
		return nil
	}
	out := &Warm{Pool: *p.Pool, Members: p.warm.alike.Members}
	out.Trials = append(out.Trials, p.warm.without...)
	if best := bestOf(p.warm.bare); best != nil {
		best.Holding = None
		out.Trials = slices.Insert(out.Trials, min(1, len(out.Trials)), *best)
	}
	planned := slices.Clone(p.warm.planned)
	slices.SortStableFunc(planned, func(a, b Trial) int { return cmp.Compare(bound(a.Budget), bound(b.Budget)) })
	out.Trials = append(out.Trials, planned...)
	for _, all := range [][]Trial{p.warm.fixed, p.warm.tuned} {
		if best := bestOf(all); best != nil {
			out.Trials = append(out.Trials, *best)
		}
	}
	out.Verdict = c.warmVerdict(out)
	out.Notes = p.warmNotes(out)
	return out
}

// bound is a budget as a number that can be compared: none is more than any.
func bound(budget float64) float64 {
	if budget == 0 {
		return math.Inf(1)
	}
	return budget
}

// of is the first trial of a policy with a holding; nil where it was not played.
func (w *Warm) of(policy string, h Holding) *Trial {
	i := slices.IndexFunc(w.Trials, func(t Trial) bool {
		return t.Policy == policy && t.Holding == h && (h != Planned || t.Own)
	})
	if i < 0 {
		return nil
	}
	return &w.Trials[i]
}

// warmVerdict is the pool against doing without one, and against what costs nothing to have: a number of chunks that never
// changes. What it loses comes first.
func (c *Comparison) warmVerdict(w *Warm) string {
	own, without := w.of(Forewarm, Planned), w.of(Forewarm, None)
	if own == nil || without == nil {
		return "Interrupted before the pool could be compared."
	}
	pays, saves := c.againstNone(own, without, w.Members)
	loses, against := c.againstFixed(w, own)
	if loses && pays {
		return sentences(against, saves)
	}
	return sentences(saves, against)
}

// againstNone is forewarm with its pool beside forewarm without one, and whether the pool pays.
func (c *Comparison) againstNone(own, without *Trial, members int) (pays bool, text string) {
	with, bare := &own.Report, &without.Report
	head := "The pool pays: "
	pays = true
	switch {
	case own.Meets && !without.Meets:
		head = "The pool pays, as only with it the objective is met: "
	case !own.Meets && without.Meets:
		pays, head = false, "The pool loses, as with it the objective is missed: "
	case with.Replicas > bare.Replicas:
		pays, head = false, "The pool costs more than it saves: "
	case with.Replicas == bare.Replicas:
		pays, head = false, "The pool changes nothing: "
	case !own.Meets:
		head = "The pool saves, but the objective is missed with it and without: "
	}
	return pays, fmt.Sprintf("%sover %s Forewarm would have taken %s with it%s, %s idle among them, %s than without, "+
		"with %s late against %s; a new replica would have waited %s for a node against %s.", head, days(with.Duration),
		c.paid(with), forMembers(members), c.idle(own), c.difference(with, bare), humanize.Share(with.LateShare()),
		humanize.Share(bare.LateShare()), minutes(with.MeanWait()), minutes(bare.MeanWait()))
}

// forMembers says whose hours they are, where there are several.
func forMembers(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" for %d members alike", n)
}

// againstFixed is the pool beside the better of two numbers of chunks that never change, below forewarm and below the
// autoscaler, and whether the pool loses.
func (c *Comparison) againstFixed(w *Warm, own *Trial) (loses bool, text string) {
	best := w.best(Fixed)
	if best == nil {
		return false, ""
	}
	head := "Nothing fixed is as good: "
	if loses = betterTrial(best, own); loses {
		head = "The pool loses to a fixed number: "
	}
	return loses, fmt.Sprintf("%s%s at all times beside %s, the best in hindsight, would have taken %s with %s late.",
		head, chunks(best.Spare), best.beside(), c.paid(&best.Report), humanize.Share(best.Report.LateShare()))
}

// beside names what scales beside a number of chunks.
func (t *Trial) beside() string {
	if t.Policy == BestTarget {
		return "this HPA with the target " + number(t.Target)
	}
	return "Forewarm"
}

// best of the trials with a holding; nil where none was played.
func (w *Warm) best(h Holding) *Trial {
	return bestOf(slices.DeleteFunc(slices.Clone(w.Trials), func(t Trial) bool { return t.Holding != h }))
}

// bestOf is the best of some trials; nil where there is none.
func bestOf(all []Trial) *Trial {
	var best *Trial
	for i := range all {
		if best == nil || betterTrial(&all[i], best) {
			best = &all[i]
		}
	}
	return best
}

func chunks(n int) string {
	if n == 1 {
		return "1 chunk"
	}
	return humanize.Count(n) + " chunks"
}

// betterTrial says whether a trial is cheaper within the objective, or the only one within it, or the less late of two
// that are not.
func betterTrial(a, b *Trial) bool {
	switch {
	case a.Meets != b.Meets:
		return a.Meets
	case a.Meets:
		return a.Report.Replicas < b.Report.Replicas
	}
	return a.Report.LateShare() < b.Report.LateShare()
}

func (c *Comparison) idle(t *Trial) string {
	return humanize.Amount(t.Report.Idle * c.Assumptions.GPUs)
}

// minutes have a tenth of one.
func minutes(d time.Duration) string { return number(math.Round(d.Minutes()*10)/10) + " min" }
