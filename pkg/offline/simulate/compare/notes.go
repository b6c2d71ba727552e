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

// notes returns the caveats of a comparison, with the most important first.
func (p *plan) notes(c *Comparison) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	p.deferrableNote(c, note)
	c.badHoursNotes(note)
	c.cheaperNote(note)
	c.idleNotes(note)
	p.scaleNotes(c, note)
	p.historyNotes(note)
	out = append(out, p.Remarks...)
	p.modelNotes(note)
	return out
}

// badHoursNotes lists the bad hours.
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

// idleNotes describes the time without demand of a workload that may scale to zero.
func (c *Comparison) idleNotes(note noteFunc) {
	for _, name := range []string{Forewarm, HPA} {
		of := c.Find(name)
		if of == nil || of.IdleTime == nil {
			continue
		}
		idle := of.IdleTime
		if idle.Idle == 0 {
			note("The HPA may scale to zero, but the demand was never 0 for an hour.")
			return
		}
		note("%s: at zero replicas in %s of %s without demand (idle spells of an hour or more). After an hour or more "+
			"with less than a tenth of a replica, demand returned %s, and found no ready replica %s. %d of the returns "+
			"came at about the same time as on one of the three days before; %d of these found no ready replica.",
			name, humanize.Percent(idle.Asleep.Hours()/idle.Idle.Hours()),
			humanize.Plural(int(idle.Idle.Hours()), "hour"),
			humanize.Plural(idle.Returns.Count, "time"), humanize.Plural(idle.Returns.Asleep, "time"),
			idle.Recurring.Count, idle.Recurring.Asleep)
	}
}

// cheaperNote mentions a policy that, in hindsight, meets the objective at a lower cost than Forewarm.
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
			cheaper = append(cheaper, fmt.Sprintf("%s at target %s with %s GPU-hours", p.Name, formatNumber(p.Target),
				humanize.Amount(c.gpuHours(&p.Report))))
		}
	}
	if len(cheaper) > 0 {
		note(
			"The following would have met the objective at a lower cost than Forewarm: %s. The right policy and target are "+
				"known only in hindsight.",
			strings.Join(cheaper, "; "),
		)
	}
}

// unitSuspectShare is the share of time above maxReplicas from which the demand probably has another unit.
const unitSuspectShare = 0.2

// doubtfulRatio is how much the usual demand may exceed the demand that maxReplicas sustain.
const doubtfulRatio = 5

// doubt says why the demand does not seem to be in the unit of the target; empty if it does.
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
		"The median demand, %s, needs %s replicas, but maxReplicas is %d. Either the demand is not in the unit of the replica "+
			"capacity (%s), or these values are not demand.",
		humanize.Amount(usual),
		humanize.Amount(usual/p.Capacity),
		p.HPA.Max,
		formatNumber(p.Capacity),
	)
}

type noteFunc func(format string, args ...any)

// deferrableNote says how much of the work that may wait missed its deadline.
func (p *plan) deferrableNote(c *Comparison, note noteFunc) {
	if p.Deferrable == 0 {
		return
	}
	var missed []string
	for _, name := range []string{HPA, Forewarm} {
		if of := c.Find(name); of != nil {
			missed = append(missed, humanize.Share(of.Report.MissedShare())+" with "+name)
		}
	}
	note(
		"%s of the demand may wait up to %s. This work is served after the other demand and never counts as late. The share of "+
			"this work that missed the deadline is %s. The HPA scales on all of the demand. Forewarm uses the headroom of the other "+
			"demand for the work that may wait.",
		humanize.Share(p.Deferrable),
		humanize.Span(p.Deadline),
		humanize.List(missed),
	)
}

// scaleNotes adds notes about the autoscaler and the capacity of a replica.
func (p *plan) scaleNotes(c *Comparison, note noteFunc) {
	if c.Assumptions.CapacityAssumed {
		note(
			"No replica capacity was given, so Forewarm assumes the target, %s. If a replica sustains more, less demand is "+
				"late than shown.",
			formatNumber(p.Capacity),
		)
	}
	if p.capacityTarget() != p.target() {
		note(
			"Forewarm uses the target %s, the full capacity of a replica, because the value that Forewarm serves already "+
				"contains the headroom. Set this target in the HPA when you switch to Forewarm.",
			formatNumber(inUnits(p.capacityTarget())),
		)
	}
	if p.target() > p.capacityTarget() {
		note(
			"The HPA's target, %s, is above the capacity of a replica, so the HPA as configured never has enough replicas.",
			formatNumber(inUnits(p.target())),
		)
	}
	least, most := float64(p.HPA.Min)*p.Capacity, float64(p.HPA.Max)*p.Capacity
	if p.peak <= least {
		note(
			"The highest demand is %s, and minReplicas (%d) is already enough for %s, so no policy can save anything. Check that "+
				"the demand is in the target's unit.",
			humanize.Significant(p.peak, 3),
			p.HPA.Min,
			humanize.Significant(least, 3),
		)
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
		note(
			"For %s of the time, the demand is above %s, the most that maxReplicas (%d) can serve. Every policy is late during that "+
				"time.%s",
			humanize.Share(over),
			humanize.Significant(most, 3),
			p.HPA.Max,
			unit,
		)
	}
	p.stepNotes(note)
	for _, one := range c.Policies {
		if one.Name != Forewarm && one.Name != Oracle && one.Hindsight && !one.MeetsObjective {
			note("No target of %s meets the objective. The table shows its most reliable target.", one.Name)
		}
	}
}

// stepNotes adds notes about what the step of the history hides.
func (p *plan) stepNotes(note noteFunc) {
	if p.plannedLead() < p.recorded.Step {
		note(
			"The history has steps of %s, which is longer than the lead time. Bursts within a step are not visible, so every "+
				"policy would be late for more demand than shown.",
			p.recorded.Step,
		)
	} else if p.recorded.Step > time.Minute {
		note(
			"The history has steps of %s. The simulation connects them with straight lines, so the simulated demand is "+
				"smoother than the real demand. This applies to every policy.",
			p.recorded.Step,
		)
	}
}

// historyNotes adds notes about missing samples.
func (p *plan) historyNotes(note noteFunc) {
	if p.missing > 0 {
		note("%s of the history is missing. The longest gap is %s. The simulation fills gaps with straight lines.",
			humanize.Share(p.missing), p.gap)
	}
	switch long := p.span(); {
	case long < 2*day:
		note("The history covers only %s, so no policy can learn a daily pattern. Two weeks are better.",
			formatDays(long))
	case long < 8*day:
		note("The history covers only %s, so no policy can learn a weekly pattern. Two weeks are better.",
			formatDays(long))
	}
}

// modelNotes adds notes about models that could not be fitted, and about Forewarm's own report.
func (p *plan) modelNotes(note noteFunc) {
	var unfit []string
	for i, r := range hindsightPolicies() {
		if s := p.sweeps[i]; s != nil && s.best == nil {
			unfit = append(unfit, r.name)
		}
	}
	if len(unfit) > 0 {
		note("Some policies are left out, because the history is too short to fit their models: %s.",
			strings.Join(unfit, ", "))
	}
	if p.served == nil || p.served.calibrator() == nil {
		return
	}
	if r := p.served.calibrator().Report(); r.Verdict != objective.Met {
		note("At the end of the simulation, Forewarm itself reports: %s.", strings.TrimSuffix(r.Message(), "."))
	}
}
