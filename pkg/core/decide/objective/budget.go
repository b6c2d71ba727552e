package objective

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// The default periods of a budget: of late demand, and of bad hours, which are few.
const (
	latePeriod     = 7 * 24 * time.Hour
	badHoursPeriod = 14 * 24 * time.Hour
)

// Budget is the lateness that an objective allows over a rolling period: the error budget of site reliability engineering
// (Beyer et al., The Site Reliability Workbook, 2018, chapters 2 and 5). The lateness is that of the first simulated
// autoscaler. Amounts are in replica-hours of demand: of late demand or, where bad hours are limited, of demand in bad hours.
type Budget struct {
	// Over is the period.
	Over time.Duration
	// Allowed is the objective times the demand of the period, or of what has passed of it; Spent is what counts against it.
	Allowed, Spent float64
	// BurnHour and BurnSixHours are the lateness of the last hour and of the last six, as multiples of the objective: at 1, the
	// budget is spent at the end of the period. NaN without demand.
	BurnHour, BurnSixHours float64
}

// Left is what may still be late; negative if too much was.
func (b Budget) Left() float64 { return b.Allowed - b.Spent }

// SpentShare is the spent share of what is allowed, above 1 if too much was late; 0 without demand.
func (b Budget) SpentShare() float64 {
	if !(b.Allowed > 0) {
		return 0
	}
	return b.Spent / b.Allowed
}

func (b Budget) spentText() string { return humanize.Significant(100*b.SpentShare(), 3) + "%" }

// budget is that of the first goal, with the account of what was served for it.
func (o *Calibrator) budget(served Account) Budget {
	asked := o.goals[0].goal
	return Budget{
		Over: o.config.period(), Allowed: asked.Late * served.judged(asked), Spent: served.part(asked),
		BurnHour: o.burnRate(asked.Late, 1), BurnSixHours: o.burnRate(asked.Late, 6),
	}
}

// burnRate is the lateness of the last hours as a multiple of an objective; NaN without demand.
func (o *Calibrator) burnRate(late float64, hours int) float64 {
	sum := o.published.hours.account(hours)
	if !(sum.Arrived > 0) {
		return math.NaN()
	}
	return sum.LateShare() / late
}

const (
	// budgetGain is by how much the objective that the headroom is found for rises with what is left of the budget, as a share
	// of the objective and of the budget of a whole period.
	budgetGain = 2
	// tightest and loosest bound it, as shares of the objective.
	tightest, loosest = 0.5, 1.5
	// evidenceHours is the number of late hours at which half of that counts.
	evidenceHours = 6
)

// target is the objective that the headroom is found for. The estimates alone leave a workload as late as it was in the
// past, which is not what is asked for. So what is left of the budget relaxes the objective, and what is overspent tightens it:
// feedback on the error, as in adaptive conformal inference (Gibbs & Candès 2021; Angelopoulos, Candès & Tibshirani 2023).
// Lateness is heavy-tailed: both count by the number of hours that it comes from. One burst is no evidence that the estimates
// are wrong, and calm weeks are none that the next burst is small. What a correction may cost is bounded (Curve.ForTarget).
func (a *accounts) target(asked Goal) float64 {
	late := asked.Late
	sum, over := a.total()
	demand := sum.arrived * a.period.Hours() / over.Hours() // of a whole period
	if !(demand > 0) || late == 0 {
		return late
	}
	left := sum.arrived/demand - sum.part(asked)/(late*demand)
	factor := 1 + budgetGain*left*a.evidence(asked)
	return min(late*min(max(factor, tightest), loosest), 1)
}

// evidence is n / (n + evidenceHours), where n is the effective number of late hours minus 1. The effective number is 1 if a single hour
// has all the late demand (Kish 1965).
func (a *accounts) evidence(asked Goal) float64 {
	sum, squares := 0.0, 0.0
	for _, h := range a.hours.All() {
		counts := h.part(asked)
		sum += counts
		squares += counts * counts
	}
	if !(squares > 0) {
		return 0
	}
	n := sum*sum/squares - 1
	return n / (n + evidenceHours)
}

// Spending is the replica-hours of the simulated autoscalers of the first goal, over whole hours.
type Spending struct {
	// Hours that are added up.
	Hours int
	// Served, Observed, Before and Hindsight are the accounts of a Report: the last one with the target that is the best now.
	Served, Observed, Before, Hindsight float64
}

// HourEnded is when the newest of the clock hours ended that were played; zero before the first.
func (o *Calibrator) HourEnded() time.Time { return o.published.hours.end }

// SpentSince adds up the hours that ended after a time, as far as they are kept.
func (o *Calibrator) SpentSince(at time.Time) Spending {
	l := &o.published.hours
	out := Spending{Hours: min(int(l.end.Sub(at)/time.Hour), o.compared())}
	if out.Hours <= 0 {
		return Spending{}
	}
	_, best := o.alternatives(l.sum(o.compared()))
	for i := range out.Hours {
		paid := &o.rivals.hours.Ref(i).paid
		out.Served += l.ring.Ref(i).paid
		out.Observed += float64(paid[rivalCount-1])
		out.Before += float64(paid[0])
		out.Hindsight += float64(paid[best])
	}
	return out
}

// Change is a change of a report that Forewarm records as an event.
type Change struct {
	// Reason in CamelCase, as in Kubernetes events.
	Reason string
	// Missed reports that the objective is missed now and was not before.
	Missed bool
	// Message is a sentence with the numbers.
	Message string
}

// ChangesSince returns changes of the selected candidate, and changes between met, missed and learning. An empty candidate or verdict is
// unknown and causes no change, so that a restart repeats no event. Changes between reasons to miss the objective are not returned, nor
// changes to or from Bounded, which follows the demand.
func (r *Report) ChangesSince(candidate string, verdict Verdict) []Change {
	var out []Change
	if candidate != "" && r.Selection.Selected != "" && candidate != r.Selection.Selected {
		out = append(out, Change{
			Reason:  "CandidateChanged",
			Message: fmt.Sprintf("%s replaces %s: %s", r.Selection.Selected, candidate, r.Selection.Message()),
		})
	}
	if verdict == "" || r.Verdict == "" || r.Verdict == Bounded || verdict.changeReason() == r.Verdict.changeReason() {
		return out
	}
	return append(out, Change{
		Reason: r.Verdict.changeReason(), Missed: r.Verdict.Misses(),
		Message: fmt.Sprintf("the verdict changed from %s to %s: %s", verdict, r.Verdict, r.Message()),
	})
}

// Misses reports whether the objective is known to be missed.
func (v Verdict) Misses() bool { return v != Met && v != Learning && v != Bounded && v != "" }

// changeReason is the Reason of a change to the verdict.
func (v Verdict) changeReason() string {
	switch {
	case v.Misses():
		return "ObjectiveMissed"
	case v == Learning:
		return "ObjectiveLearning"
	}
	return "ObjectiveMet"
}

// MostDemanding returns the autoscaler that needs the largest headroom, which Forewarm uses; false if there is no autoscaler.
func (r *Report) MostDemanding() (AutoscalerReport, bool) {
	var out AutoscalerReport
	for i, s := range r.Autoscalers {
		if i == 0 || s.Headroom > out.Headroom {
			out = s
		}
	}
	return out, len(r.Autoscalers) > 0
}
