package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/figures"
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
	against := c.againstFixed(w, own)
	if against.loses && pays {
		return sentences(against.text, saves)
	}
	return sentences(saves, against.text)
}

// againstNone is forewarm with its pool beside forewarm without one, and whether the pool pays.
func (c *Comparison) againstNone(own, without *Trial, members int) (pays bool, text string) {
	head := "The pool pays: "
	pays = true
	switch {
	case own.Meets && !without.Meets:
		head = "The pool pays, as only with it the objective is met: "
	case !own.Meets && without.Meets:
		pays, head = false, "The pool loses, as with it the objective is missed: "
	case own.Report.Replicas > without.Report.Replicas:
		pays, head = false, "The pool costs more than it saves: "
	case own.Report.Replicas == without.Report.Replicas:
		pays, head = false, "The pool changes nothing: "
	case !own.Meets:
		head = "The pool saves, but the objective is missed with it and without: "
	}
	return pays, fmt.Sprintf(
		"%sover %s Forewarm would have taken %s with it%s, %s idle among them, %s than without, with %s late against %s; "+
			"a new replica would have waited %s for a node against %s.",
		head,
		days(own.Report.Duration),
		c.hours(own.Report.Replicas),
		forMembers(members),
		c.idle(own),
		c.fewer(own, without),
		figures.Share(own.Report.LateShare()),
		figures.Share(without.Report.LateShare()),
		minutes(own.Report.MeanWait().Minutes()),
		minutes(without.Report.MeanWait().Minutes()),
	)
}

// forMembers says whose hours they are, where there are several.
func forMembers(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" for %d members alike", n)
}

// rivalry is how the pool fares against what is fixed.
type rivalry struct {
	loses bool
	text  string
}

// againstFixed is the pool beside the better of two numbers of chunks that never change: below forewarm, and below the
// autoscaler.
func (c *Comparison) againstFixed(w *Warm, own *Trial) rivalry {
	var best *Trial
	for _, name := range []string{Forewarm, BestTarget} {
		if one := w.of(name, Fixed); one != nil && (best == nil || betterTrial(one, best)) {
			best = one
		}
	}
	if best == nil {
		return rivalry{}
	}
	what := chunks(best.Spare) + " at all times beside Forewarm"
	if best.Policy == BestTarget {
		what = fmt.Sprintf(
			"%s at all times beside this HPA with the target %s",
			chunks(best.Spare),
			number(best.Target),
		)
	}
	loses := betterTrial(best, own)
	head := "Nothing fixed is as good: "
	if loses {
		head = "The pool loses to a fixed number: "
	}
	return rivalry{loses, fmt.Sprintf("%s%s, the best in hindsight, would have taken %s with %s late.",
		head, what, c.hours(best.Report.Replicas), figures.Share(best.Report.LateShare()))}
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
	return figures.Count(n) + " chunks"
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

// hours are replica-hours as GPU-hours, with what they cost where a price was given.
func (c *Comparison) hours(replicas float64) string {
	of := replicas * c.Assumptions.GPUs
	return figures.Amount(of) + " GPU-hours" + c.dollars(of)
}

func (c *Comparison) idle(t *Trial) string { return figures.Amount(t.Report.Idle * c.Assumptions.GPUs) }

// fewer is "210 ($640) or 14.5% fewer".
func (c *Comparison) fewer(of, than *Trial) string {
	return c.difference(&Policy{Report: of.Report}, &Policy{Report: than.Report})
}

// minutes have a tenth of one.
func minutes(m float64) string {
	return number(math.Round(m*10)/10) + " min"
}
