package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// notes are the caveats of a comparison, the most important first.
func (p *plan) notes(c *Comparison) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	p.deferrableNote(c, note)
	c.badHoursNotes(note)
	c.cheaperNote(note)
	p.scaleNotes(c, note)
	p.historyNotes(note)
	out = append(out, p.Remarks...)
	p.modelNotes(note)
	return out
}

// badHoursNotes name the bad hours.
func (c *Comparison) badHoursNotes(note noteFunc) {
	for _, name := range []string{Forewarm, BestTarget, HPA} {
		of := c.Find(name)
		if of == nil || of.Report.BadHours.Count == 0 {
			continue
		}
		hours := objective.NameBadHours(&of.Report.BadHours)
		note("%s: %s.", name, &hours)
	}
}

// cheaperNote names what meets the objective for less than Forewarm, in hindsight.
func (c *Comparison) cheaperNote(note noteFunc) {
	forewarm := c.Find(Forewarm)
	if forewarm == nil || !forewarm.MeetsObjective {
		return
	}
	var cheaper []string
	for i := range c.Policies {
		p := &c.Policies[i]
		if p.Hindsight && p.MeetsObjective && p.Name != Oracle && p.Name != BestTarget &&
			p.Report.ReplicaHours < forewarm.Report.ReplicaHours {
			cheaper = append(cheaper, fmt.Sprintf("%s at %s with %s GPU-hours", p.Name, formatNumber(p.Target),
				humanize.Amount(c.gpuHours(&p.Report))))
		}
	}
	if len(cheaper) > 0 {
		note("Cheaper than Forewarm within the objective: %s. Only hindsight shows which policy and which target.",
			strings.Join(cheaper, "; "))
	}
}

// unitSuspectShare is a share of the time above maxReplicas that suggests another unit of the demand.
const unitSuspectShare = 0.2

// doubtfulRatio is how far the usual demand may be above what maxReplicas sustain.
const doubtfulRatio = 5

// doubt is why the demand is not in the unit of the target; empty if it may be.
func (p *plan) doubt() string {
	known := slices.DeleteFunc(slices.Clone(p.recorded.Values), math.IsNaN)
	if p.TrustInput || len(known) == 0 {
		return ""
	}
	slices.Sort(known)
	usual := known[len(known)/2]
	if usual <= doubtfulRatio*float64(p.HPA.Max)*p.Capacity {
		return ""
	}
	return fmt.Sprintf(
		"The usual demand, %s, takes %s replicas, and maxReplicas is %d: it is in another unit than what a replica sustains (%s), "+
			"or no demand.",
		humanize.Amount(usual),
		humanize.Amount(usual/p.Capacity),
		p.HPA.Max,
		formatNumber(p.Capacity),
	)
}

type noteFunc func(format string, args ...any)

// deferrableNote is how much of the work that may wait missed its deadline.
func (p *plan) deferrableNote(c *Comparison, note noteFunc) {
	if p.Deferrable == 0 {
		return
	}
	var missed []string
	for _, name := range []string{HPA, Forewarm} {
		if of := c.Find(name); of != nil {
			missed = append(missed, humanize.Share(of.Report.MissedShare())+" of it with "+name)
		}
	}
	note(
		"%s of the demand may wait %s, behind the rest, and counts as late nowhere: %s missed that deadline. The HPA reads all of the demand; "+
			"Forewarm plans what may wait into the headroom of the rest.",
		humanize.Share(p.Deferrable),
		humanize.Span(p.Deadline),
		humanize.List(missed),
	)
}

// scaleNotes are about the autoscaler and the capacity of a replica.
func (p *plan) scaleNotes(c *Comparison, note noteFunc) {
	if c.Assumptions.CapacityAssumed {
		note(
			"No replica capacity was given: the target, %s, is assumed. If a replica sustains more, less demand is late "+
				"than shown.",
			formatNumber(p.Capacity),
		)
	}
	if p.capacityTarget() != p.target() {
		note(
			"Forewarm uses the target %s, the full capacity of a replica, because the value that it serves contains the "+
				"headroom. Set this target in the HPA when you switch to Forewarm.",
			formatNumber(inUnits(p.capacityTarget())),
		)
	}
	if p.target() > p.capacityTarget() {
		note("The HPA's target, %s, is above the capacity of a replica: the HPA as written never has enough replicas.",
			formatNumber(inUnits(p.target())))
	}
	least, most := float64(p.HPA.Min)*p.Capacity, float64(p.HPA.Max)*p.Capacity
	if p.peak <= least {
		note("minReplicas (%d) are enough for the highest demand (%s of %s): there is nothing to gain. Check that the "+
			"demand is in the target's unit.", p.HPA.Min, humanize.Significant(p.peak, 3),
			humanize.Significant(least, 3))
	}
	above := 0
	for _, v := range p.demand.Values {
		if v > most {
			above++
		}
	}
	if above > 0 {
		over := float64(above) / float64(p.demand.Len())
		unit := ""
		if over > unitSuspectShare {
			unit = " Check that the demand is in the target's unit."
		}
		note("For %s of the time the demand is above what maxReplicas (%d) sustain, %s: every policy is late then.%s",
			humanize.Share(over), p.HPA.Max, humanize.Significant(most, 3), unit)
	}
	if p.plannedLead() < p.recorded.Step {
		note(
			"The history has steps of %s, longer than the lead time, and hides bursts within a step: for every policy "+
				"more demand would be late than shown.",
			p.recorded.Step,
		)
	} else if p.recorded.Step > time.Minute {
		note(
			"The history has steps of %s. Within a step the demand is a straight line, smoother than it was, for every "+
				"policy.",
			p.recorded.Step,
		)
	}
	for _, one := range c.Policies {
		if one.Name != Forewarm && one.Name != Oracle && one.Hindsight && !one.MeetsObjective {
			note("No target of %s meets the objective: the least late one is shown.", one.Name)
		}
	}
}

// historyNotes are about what is missing.
func (p *plan) historyNotes(note noteFunc) {
	if p.missing > 0 {
		note("%s of the history is missing, at most %s in a row. Straight lines fill the gaps.",
			humanize.Share(p.missing), p.gap)
	}
	switch long := p.span(); {
	case long < 2*day:
		note("The history has only %s: no policy can learn the pattern of a day. Two weeks are better.",
			formatDays(long))
	case long < 8*day:
		note("The history has only %s: no policy can learn the pattern of a week. Two weeks are better.",
			formatDays(long))
	}
}

// modelNotes are about models that could not be fitted, and Forewarm's own report.
func (p *plan) modelNotes(note noteFunc) {
	var unfit []string
	for i, r := range hindsightPolicies() {
		if s := p.sweeps[i]; s != nil && s.best == nil {
			unfit = append(unfit, r.name)
		}
	}
	if len(unfit) > 0 {
		note("Left out, because the history is too short to fit them: %s.", strings.Join(unfit, ", "))
	}
	if p.served == nil || p.served.calibrator() == nil {
		return
	}
	if r := p.served.calibrator().Report(); r.Verdict != objective.Met {
		note("Forewarm's own report at the end: %s.", strings.TrimSuffix(r.Message(), "."))
	}
}
