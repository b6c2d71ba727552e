package inspect

import (
	"cmp"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/verdict"
)

// objectivePanel is the section of the page about an objective.
type objectivePanel struct {
	*v1alpha1.Objective

	Facts []fact
}

func objectiveFacts(o *v1alpha1.Objective) []fact {
	over := "in the last " + humanize.Period(o.Over.Duration)
	switch {
	case o.Over.Duration <= 0:
		over = "not simulated yet"
	case o.Late != nil && o.Served.Late != nil && *o.Served.Late > *o.Late:
		over += ", above the objective"
	}
	if m := o.Measured; m != nil {
		over += "; " + humanize.LateShare(m.Late) + " measured over " + humanize.Period(m.Known.Duration)
	}
	facts := []fact{objectiveFact(o), {"Late", lateShare(o.Served.Late), "", over}}
	if o.Hours != nil {
		facts = append(facts, hoursFact(o.Hours))
		if busy := o.Hours.BusyHour; o.BadHours != nil && busy != nil && o.Budget != nil {
			of := o.Budget.Period.Duration
			facts = append(facts, allowanceFact(*o.BadHours, *busy*o.Over.Hours()/of.Hours(), of))
		}
	}
	if o.Budget != nil {
		facts = append(facts, budgetFact(o))
	}
	if d := o.Deferrable; d != nil {
		facts = append(facts, deferrableFact(d))
	}
	return append(facts,
		fact{"Replica-hours", number(o.Served.ReplicaHours), "", "relative cost " + significant(o.Served.RelativeCost)},
		lastValueFact(o),
		fact{"Headroom k", significant(o.Headroom), "", expectedNote(o)},
		fact{"Candidate", cmp.Or(o.Candidate, unknown), "", "for the window peak"},
	)
}

// deferrableFact is how much of the deferrable work missed its deadline.
func deferrableFact(d *v1alpha1.Deferrable) fact {
	note := fmt.Sprintf("of %s replica-hours of work that may wait %s; %s replica-hours are waiting now",
		humanize.Number(d.ReplicaHours), span(d.Deadline.Duration), humanize.Number(d.Waiting))
	if d.Needed != nil {
		note += " and need a value of " + number(d.Needed)
	}
	return fact{"Deadlines missed", lateShare(d.Missed), "", note}
}

// hoursFact is how many hours were bad.
func hoursFact(h *v1alpha1.Hours) fact {
	out := fact{
		Name:  "Bad hours",
		Value: humanize.Count(int(h.Bad)),
		Note:  "of " + humanize.Count(int(h.Judged)) + " hours",
	}
	if h.Bad > 0 {
		out.Note += ", with " + humanize.LateShare(h.BadDemand) + " of the demand"
	}
	if replayed := h.Judged - h.Served; replayed > 0 {
		out.Note += fmt.Sprintf("; Forewarm replayed %s in which it did not serve",
			humanize.Plural(int(replayed), "hour"))
	}
	return out
}

// allowanceFact says how many bad busy hours the objective allows. Each busy hour has the given share of the demand of the budget's period.
func allowanceFact(badHours, busy float64, over time.Duration) fact {
	each := fmt.Sprintf("in %s, with %s of the demand each", humanize.Period(over), humanize.LateShare(busy))
	switch n := badHours / busy; {
	case n < 1:
		return fact{"Allowed", "no busy hour", "", each + "; one bad busy hour overspends the budget"}
	case n < 1.5: //nolint:mnd // The number that is printed as 1.
		return fact{"Allowed", "about 1", "", "busy hour " + each}
	default:
		return fact{"Allowed", fmt.Sprintf("about %.0f", n), "", "busy hours " + each}
	}
}

// budgetFact is how much of the budget is spent.
func budgetFact(o *v1alpha1.Objective) fact {
	b := o.Budget
	period := humanize.Period(b.Period.Duration)
	if b.Allowed == nil || b.Spent == nil || !(*b.Allowed > 0) {
		return fact{"Budget", unknown, "", "for " + period + ", not known yet"}
	}
	return fact{
		"Budget", humanize.Significant(100**b.Spent / *b.Allowed, 3) + "%", "",
		fmt.Sprintf("of the %s replica-hours that may be %s in %s are spent; burn rate %s in the last hour",
			significant(b.Allowed), missedText(o), period, significant(b.BurnRate)),
	}
}

// objectiveFact is the objective, or the cost ratio.
func objectiveFact(o *v1alpha1.Objective) fact {
	goal := objective.NewGoal(o.Late, o.BadHours, o.CostRatio)
	return fact{"Objective", goal.String(), "", goal.Sentence(o.Wait.Duration, 0)}
}

// lastValueFact compares with the last value: its cost to meet the objective, or its lateness at the same cost ratio.
func lastValueFact(o *v1alpha1.Objective) fact {
	_, last := selectedAndLastValue(o)
	out := fact{Name: "Last value", Value: unknown, Note: "not known yet"}
	switch {
	case last == nil || last.RelativeCost == nil:
	case o.CostRatio != nil:
		out.Value = significant(last.RelativeCost)
		out.Note = "relative cost with its own headroom, " + lateShare(last.Late) + " late"
	case last.MeetsObjective:
		out.Value, out.Note = significant(last.RelativeCost), "relative cost with its own headroom"
	default:
		out.Value = lateShare(last.Late)
		out.Note = missedText(
			o,
		) + " at a relative cost of " + significant(
			last.RelativeCost,
		) + ", with its own headroom"
	}
	return out
}

func expectedNote(o *v1alpha1.Objective) string {
	if o.ExpectedLate == nil {
		return "times the spread"
	}
	return "times the spread; " + lateShare(o.ExpectedLate) + " of the demand is expected to be " + missedText(o)
}

// missedText describes the demand that misses the objective: late, or in bad hours.
func missedText(o *v1alpha1.Objective) string {
	return objective.NewGoal(o.Late, o.BadHours, o.CostRatio).Limited()
}

// CandidateNote marks the selected candidate, and candidates that miss the objective.
func CandidateNote(o *v1alpha1.Objective, c *v1alpha1.CandidateCost) string {
	switch {
	case c.Selected && (c.MeetsObjective || o.CostRatio != nil):
		return "selected"
	case c.Selected:
		return "selected, but misses the objective"
	case c.Late == nil || o.CostRatio != nil && !c.MeetsObjective:
		return "not known yet"
	case !c.MeetsObjective:
		return "misses the objective"
	}
	return ""
}

// Missed says why an objective is not met, or why this is unknown; empty if it is met.
func (o *objectivePanel) Missed() string {
	switch v := objective.Verdict(o.Verdict); v {
	case objective.Met:
		return ""
	case objective.Learning:
		return "Not known yet: the history of this workload is too short."
	case objective.Bounded:
		return "Not known now: the objective needs a higher value than the history justifies."
	case objective.Overspent:
		return "Not met: more demand was late than the budget allows."
	case objective.AtMaxReplicas:
		return "Not met: the autoscaler's maxReplicas is too low. Raise it."
	case objective.FasterThanLead:
		return "Not met: the demand rises faster than replicas start."
	default:
		return "Not met: " + string(v) + "."
	}
}

// Class is the verdict as a CSS class: a met objective is good if no hour was bad.
func (o *objectivePanel) Class() string {
	switch v := objective.Verdict(o.Verdict); {
	case v == objective.Met && o.Hours != nil && len(o.Hours.Named) > 0:
		return "fair"
	case v == objective.Met:
		return "good"
	case v.Misses():
		return "poor"
	}
	return "fair"
}

// ComparisonClass is the word of the comparison as a CSS class.
func (o *objectivePanel) ComparisonClass() string {
	switch verdict.Word(o.Comparison.Verdict) {
	case verdict.Saves:
		return "good"
	case verdict.TooLate:
		return "poor"
	case verdict.NoDifference, verdict.CostsMore, verdict.TooEarly:
	}
	return "fair"
}
