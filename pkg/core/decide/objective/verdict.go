package objective

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/verdict"
)

// candidateReports are the candidates with the first autoscaler.
func (o *Calibrator) candidateReports(a *goalState) []Candidate {
	out := make([]Candidate, o.selectable())
	for i, c := range o.candidates[:o.selectable()] {
		t := &c.trials[0]
		expected := t.of(a.goal)
		k, met := headroomFor(expected.curve, a.goal, a.goal.Late), expectedToMeet(expected.curve, a.goal)
		at := expected.curve.At(k)
		out[i] = Candidate{
			Name:           c.name,
			Selected:       i == a.selector.Selected(),
			Headroom:       k,
			Late:           at.Late,
			RelativeCost:   at.RelativeCost,
			MeetsObjective: met && !expected.estimator.learning() && !math.IsNaN(at.RelativeCost),
		}
	}
	return out
}

// scores are the candidates as the selector compares them.
func (a *goalState) scores(all []Candidate) []decide.CandidateScore {
	out := make([]decide.CandidateScore, len(all))
	for i, c := range all {
		out[i] = decide.CandidateScore{Name: c.Name, Loss: c.loss(a.goal.Price), Eligible: c.MeetsObjective}
	}
	return out
}

// Report is that of the first goal.
func (o *Calibrator) Report() *Report {
	a := o.goals[0]
	sum := o.published.hours.sum(o.compared())
	serving := o.candidates[a.selector.Selected()]
	r := &Report{
		Late: a.goal.Late, Wait: o.config.Autoscalers[0].Spec.WithDefaults().Wait, Price: a.goal.Price,
		Candidates: o.candidateReports(a), Hours: serving.trials[0].late.estimator.hours, Lead: o.config.Lead,
		Period: time.Duration(sum.hours) * time.Hour, Served: sum.Account, Bad: sum.bad, TargetLate: a.target(),
		Replay: o.published.race.report(), Record: o.Record(),
	}
	r.BadHours = a.goal.BadHours
	all, best := o.alternatives(sum)
	r.setRivals(all, best, o.config.Baseline)
	r.Judged = o.judge(sum, all[:])
	if r.Price == 0 {
		r.Budget = o.budget(sum.Account)
	}
	if o.config.Deadline > 0 {
		r.Deferrable = &Deferrable{
			Deadline:      o.config.Deadline,
			Arrived:       sum.deferrable,
			Missed:        sum.missed,
			Waiting:       o.Deferred(0),
			DeadlineFloor: a.needed,
		}
	}
	r.Selection = a.selector.Reason(a.scores(r.Candidates))
	r.Autoscalers = serving.autoscalerReports(o.config.Autoscalers, a.goal, r.TargetLate)
	for i, n := range o.config.Named {
		c := o.candidates[o.selectable()+i]
		r.Named = append(r.Named, NamedReport{
			Name:        c.name,
			Autoscalers: c.autoscalerReports(n.Autoscalers, a.goal, a.goal.Late),
			Inputs:      slices.Clone(c.inputs),
		})
	}
	r.PeakReplicas = int(math.Ceil(sum.peak / r.Autoscalers[0].Target))
	switch {
	case serving.trials[0].late.estimator.learning():
		r.Verdict = Learning
	case r.Price > 0 || r.Budget.Left() >= 0:
		r.Verdict = Met
	case sum.capped > sum.Late/2:
		r.Verdict = AtMaxReplicas
	case serving.meets(a.goal):
		r.Verdict = Overspent
	default:
		r.Verdict = FasterThanLead
	}
	return r
}

// meets reports whether a headroom keeps the goal with all of the candidate's autoscalers.
func (c *candidate) meets(asked Goal) bool {
	for i := range c.trials {
		if !expectedToMeet(c.trials[i].of(asked).curve, asked) {
			return false
		}
	}
	return true
}

// autoscalerReports are the headrooms that a candidate's autoscalers need.
func (c *candidate) autoscalerReports(on []Autoscaler, asked Goal, target float64) (all []AutoscalerReport) {
	for i, by := range on {
		curve, other := c.trials[i].of(asked).curve, c.trials[i].of(Goal{BadHours: !asked.BadHours}).curve
		k := headroomFor(curve, asked, target)
		all = append(all, AutoscalerReport{
			Name: by.Name, Target: by.Spec.Capacity, Min: by.Spec.HPA.Min, Max: by.Spec.HPA.Max,
			Headroom: k, ExpectedLate: curve.At(k).Late, Curve: curve, Other: other, BadHours: asked.BadHours,
		})
	}
	return all
}

// judge compares the first goal with the HPA before, and with the same at other targets, over the hours of what was served. The verdict
// changes only with the hours, so it is kept until then.
func (o *Calibrator) judge(served *past, rivals []Alternative) *verdict.Verdict {
	if o.judgedPast == served {
		return o.judged
	}
	o.judged, o.judgedPast = nil, served
	if !(served.Arrived > 0) {
		return nil
	}
	goal, hours := o.goals[0].goal, served.hours
	c := verdict.Comparison{
		Objective: goal.Late, BadHours: goal.BadHours, Priced: goal.Price > 0, Unit: "replica-hours",
		Period: "the last " + humanize.Period(time.Duration(hours)*time.Hour), HPAName: "your HPA",
		Forewarm: outcome(goal, goal.Late, served.Account, o.dailyCost(hours, func(ago int) (paid, late float64) {
			h := o.published.hours.ring.Ref(ago)
			return h.paid, h.late
		})),
	}
	if !(o.config.Baseline.Target > 0) {
		c.HPAName = fmt.Sprintf("an HPA with a target of %.0f%% of a replica's capacity", 100*AssumedTarget)
	}
	for i, r := range rivals {
		c.Targets = append(
			c.Targets,
			outcome(goal, r.Target, r.Account, o.dailyCost(hours, func(ago int) (paid, late float64) {
				h := o.rivals.hours.Ref(ago)
				return float64(h.paid[i]), float64(h.late[i])
			})),
		)
	}
	c.HPA, c.Targets = c.Targets[0], c.Targets[1:]
	v := c.Judge()
	o.judged = &v
	return o.judged
}

// outcome is an account as the verdict reads it.
func outcome(goal Goal, setting float64, a Account, cost []float64) verdict.Outcome {
	return verdict.Outcome{Setting: setting, Cost: cost, Share: a.share(goal), BadHours: a.BadHours}
}

// dailyCost are the replica-hours of each day, with the first goal's price of late demand.
func (o *Calibrator) dailyCost(hours int, of func(ago int) (paid, late float64)) []float64 {
	out := make([]float64, hours)
	for i := range out {
		paid, late := of(hours - 1 - i)
		out[i] = paid + math.Max(o.goals[0].goal.Price, 0)*late
	}
	return verdict.Days(out)
}
