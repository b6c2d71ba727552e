package compare

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// notes are what a reader must know before they trust a comparison, the weightiest first.
func (p *plan) notes(c *Comparison) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	p.matchedNote(c, note)
	c.cheaperNote(note)
	p.scaleNotes(c, note)
	p.historyNotes(note)
	out = append(out, p.Remarks...)
	p.modelNotes(note)
	return out
}

// cheaperNote names what meets the objective for less than forewarm does, and how that is known.
func (c *Comparison) cheaperNote(note noting) {
	forewarm := c.named(Forewarm)
	if forewarm == nil || !forewarm.Meets {
		return
	}
	var cheaper []string
	for i := range c.Policies {
		p := &c.Policies[i]
		if p.Hindsight && p.Meets && p.Name != Oracle && p.Name != BestTarget &&
			p.Report.Replicas < forewarm.Report.Replicas {
			cheaper = append(cheaper, fmt.Sprintf("%s at %s with %s GPU-hours", p.Name, number(p.Target),
				humanize.Amount(c.gpuHours(&p.Report))))
		}
	}
	if len(cheaper) > 0 {
		note("Cheaper than Forewarm within the objective: %s. Which of them, and at which target, is known in "+
			"hindsight only.", strings.Join(cheaper, "; "))
	}
}

// muchOver is a share of the time over maxReplicas that nobody bears for long: rather the unit is another one.
const muchOver = 0.2

type noting func(format string, args ...any)

// matchedNote is what the autoscaler would have cost had it been as late as forewarm was, which the verdict compares only
// under the objective.
func (p *plan) matchedNote(c *Comparison, note noting) {
	forewarm, best := c.named(Forewarm), c.named(BestTarget)
	if forewarm == nil || best == nil {
		return
	}
	late := forewarm.Report.LateShare()
	// The frontier goes from the least late to the cheapest: the last that is no later is the cheapest of them.
	var matched *Point
	for i := range best.Frontier {
		if best.Frontier[i].Late <= late {
			matched = &best.Frontier[i]
		}
	}
	if matched == nil {
		note("No target of this HPA is as seldom late as Forewarm was (%s).", humanize.Share(late))
		return
	}
	note("No later than Forewarm was (%s), the cheapest target of this HPA is %s: it would have taken %s GPU-hours.",
		humanize.Share(late), number(matched.Setting), humanize.Amount(matched.Cost*best.Report.Arrived*p.GPUs))
}

// scaleNotes are about the autoscaler and what a replica sustains.
func (p *plan) scaleNotes(c *Comparison, note noting) {
	if c.Assumptions.CapacityAssumed {
		note("No capacity of a replica was given: it is taken to be the target, %s. Where a replica sustains more, "+
			"less is late than is said here.", number(p.Capacity))
	}
	if p.full() != p.target() {
		note("Forewarm is played with the target %s, the whole capacity of a replica: its headroom is in the value "+
			"that it serves. Write that into the HPA when you switch it on.", number(inUnits(p.full())))
	}
	if p.target() > p.full() {
		note("The HPA's target, %s, is more than a replica sustains: as it is written it never has replicas enough.",
			number(inUnits(p.target())))
	}
	least, most := float64(p.HPA.Min)*p.Capacity, float64(p.HPA.Max)*p.Capacity
	if p.peak <= least {
		note("minReplicas (%d) alone sustain the highest demand, %s of %s: there is nothing to gain. Is the demand in "+
			"the target's unit?", p.HPA.Min, number(round(p.peak)), number(round(least)))
	}
	if over := p.shareOver(most); over > 0 {
		unit := ""
		if over > muchOver {
			unit = " Is the demand in the target's unit?"
		}
		note("For %s of the time the demand is over what maxReplicas (%d) sustain, %s: then every policy is late.%s",
			humanize.Share(over), p.HPA.Max, number(round(most)), unit)
	}
	if p.planned() < p.recorded.Step {
		note("The history is in steps of %s, longer than the lead time: bursts between them are not seen, and every "+
			"policy would be later than is said here.", p.recorded.Step)
	} else if p.recorded.Step > time.Minute {
		note("The history is in steps of %s: within them the demand is drawn as a line, smoother than it was, for "+
			"every policy alike.", p.recorded.Step)
	}
	for _, one := range c.Policies {
		if one.Name != Forewarm && one.Name != Oracle && one.Hindsight && !one.Meets {
			note("No target of %s meets the objective: the least late is told.", one.Name)
		}
	}
}

// historyNotes are about what is missing.
func (p *plan) historyNotes(note noting) {
	if p.missing > 0 {
		note("%s of the history is missing, %s at a stretch at most: straight lines are drawn over the gaps.",
			humanize.Share(p.missing), p.gap)
	}
	switch long := p.span(); {
	case long < 2*day:
		note("The history is of %s: no policy could learn what a day is like. Two weeks tell more.", days(long))
	case long < 8*day:
		note("The history is of %s: no policy could learn what a week is like. Two weeks tell more.", days(long))
	}
}

// modelNotes are about what could not be fitted, and what forewarm says of itself.
func (p *plan) modelNotes(note noting) {
	var unfit []string
	for i, r := range rivals() {
		if p.unfit[i] {
			unfit = append(unfit, r.name)
		}
	}
	if len(unfit) > 0 {
		note("Left out, as so short a history fits them not once: %s.", strings.Join(unfit, ", "))
	}
	if p.says != nil && p.says.Verdict != outcome.Met {
		note("Forewarm says at the end: %s.", strings.TrimSuffix(p.says.Words(), "."))
	}
}

// shareOver is the share of the time that the demand is over a limit.
func (p *plan) shareOver(limit float64) float64 {
	n := 0
	for _, v := range p.demand.Values {
		if v > limit {
			n++
		}
	}
	return float64(n) / float64(p.demand.Len())
}

// round is a quantity in three digits.
func round(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return math.Round(v/scale) * scale
}
