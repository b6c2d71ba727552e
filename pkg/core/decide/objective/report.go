package objective

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/verdict"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Report is whether an objective is met, with the lateness and cost of simulated autoscalers.
type Report struct {
	// Late is the objective: the share of the demand that may wait longer than Wait or, with BadHours, that may arrive in hours in which
	// more than a tenth of the demand waits longer. 0 if a Price is set instead.
	Late     float64
	BadHours bool
	Wait     time.Duration
	// Price of a replica's worth of late demand, in idle replicas; 0 if an objective is set.
	Price float64
	// TargetLate is the objective that the headroom is found for: Late, tightened or relaxed by what is left of the Budget.
	TargetLate float64
	// Verdict is whether the objective is met, by the Hours observed.
	Verdict Verdict
	Hours   int
	// Selection is which candidate is selected, and why.
	Selection decide.SelectionReason
	// Candidates are all that were simulated, the selected one included.
	Candidates []Candidate
	// Autoscalers that read the served value, each with the headroom that it needs; the largest is served.
	Autoscalers []AutoscalerReport
	// Named are the candidates that autoscalers request by name.
	Named []NamedReport
	// Budget is what the objective allows, and what is spent of it; zero at a price.
	Budget Budget
	// Period that the accounts cover: the budget's, or what has passed of it.
	Period time.Duration
	// Bad are the bad hours of the period with Forewarm's value.
	Bad BadHours
	// Record is the hours that Forewarm has served; nil before the first one.
	Record *Record
	// Served is the account of the first autoscaler on the value that Forewarm served; as far back as it did not, on the value that it
	// would have served. Observed is that of an HPA with its target on the observed
	// demand.
	Served, Observed Account
	// Before is an HPA as the workload had it before, with AssumedTarget if BeforeAssumed. Hindsight is the same HPA with the target
	// that was the cheapest of this period while no more was late than asked, or than with Forewarm.
	Before, Hindsight Alternative
	BeforeAssumed     bool
	// Judged compares Served with Before at equal reliability; nil without demand.
	Judged *verdict.Verdict
	// Deferrable is the work that may wait; nil where there is none.
	Deferrable *Deferrable
	// Measured is what users saw, where a query measures it; else nil.
	Measured *Measured
	// Race is what happened in the course of the period.
	Replay *Replay
	// PeakReplicas is how many replicas the highest demand of the period takes; Lead is how long they take to start.
	PeakReplicas int
	Lead         time.Duration
	// Limit is the most that history can justify, if the verdict is Bounded.
	Limit demand.Limit
}

// NamedReport is a candidate that autoscalers request by name.
type NamedReport struct {
	Name string
	// Autoscalers that request it, each with the headroom that it needs.
	Autoscalers []AutoscalerReport
	// Inputs are the candidate's over the last half lead time, newest last.
	Inputs []decide.Input
}

// HeadroomFor is the multiplier for the settings' cost ratio or else its objective, which may differ from the Report's: the
// largest that any of the autoscalers needs. What is left of the budget tightens or relaxes another objective of the same kind as much.
func (r *Report) HeadroomFor(settings decide.Settings) float64 {
	target := settings.Late
	if r.Price == 0 && r.Late > 0 && settings.BadHours == r.BadHours {
		target = min(target*r.TargetLate/r.Late, 1)
	}
	return largestHeadroom(r.Autoscalers, settings, target)
}

// HeadroomFor is Report.HeadroomFor with the autoscalers that request the candidate.
func (n *NamedReport) HeadroomFor(settings decide.Settings) float64 {
	return largestHeadroom(n.Autoscalers, settings, settings.Late)
}

func largestHeadroom(scalings []AutoscalerReport, settings decide.Settings, target float64) float64 {
	asked := Goal{Late: settings.Late, BadHours: settings.BadHours, Price: settings.CostRatio}
	k := 0.0
	for i := range scalings {
		k = math.Max(k, headroomFor(scalings[i].curveFor(asked), asked, target))
	}
	return k
}

// Skill of the selected candidate: 1 − its loss over the last value's loss, by the criterion of the selection. NaN until both
// are known.
func (r *Report) Skill() float64 {
	serves, last := math.NaN(), math.NaN()
	for _, c := range r.Candidates {
		if c.Selected {
			serves = c.loss(r.Price)
		}
		if c.Name == windowpeak.LastValue {
			last = c.loss(r.Price)
		}
	}
	return 1 - serves/last
}

// headroomFor is the multiplier for a price or else for an objective that is corrected to a target.
func headroomFor(curve Curve, asked Goal, target float64) float64 {
	if asked.Price > 0 {
		return curve.forPrice(asked.Price)
	}
	return curve.forTarget(asked.Late, target)
}

// expectedToMeet reports whether a multiplier keeps an objective. A price is always met.
func expectedToMeet(curve Curve, asked Goal) bool {
	_, met := curve.forObjective(asked.Late)
	return met || asked.Price > 0
}

// Verdict is whether an objective is met, or why not.
type Verdict string

// Reasons of the condition ObjectiveMet. These are the verdicts.
const (
	// Met (True): no more demand was late than the lateness budget allows. With costRatio, the cheapest headroom is
	// served. The budget is that of a period, not a limit for each day.
	Met Verdict = "Met"
	// Learning (False): less than a day was observed. The headroom is mostly what other workloads needed.
	//
	// Fix: wait.
	Learning Verdict = "Learning"
	// Bounded (False): the value that the objective needs is above the bound (docs/concepts.md#the-bound). The bound is
	// served, and it is unknown whether the objective is met.
	//
	// Fix: wait until the demand is credible.
	Bounded Verdict = "Bounded"
	// Overspent (False): more demand was late over the budget's period than the objective allows. More headroom is served
	// until that is made up for.
	//
	// Fix: wait. If it lasts, allow more late demand, or shorten the start.
	Overspent Verdict = "Overspent"
	// AtMaxReplicas (False): the budget is overspent, mostly while the autoscaler was at its maximum (maxReplicas). The message has the number of replicas that are needed.
	//
	// Fix: raise maxReplicas, or allow more late demand.
	AtMaxReplicas Verdict = "AtMaxReplicas"
	// FasterThanLead (False): the budget is overspent, as bursts rise faster than replicas start.
	//
	// Fix: shorten the start (a warm node, the image, the weights), or allow more late demand.
	FasterThanLead Verdict = "FasterThanLead"
)

// AutoscalerReport is the headroom of one autoscaler.
type AutoscalerReport struct {
	// Name as in decide.Autoscaler.
	Name string
	// Target is what a replica sustains, in the demand's unit; Min and Max bound the replicas.
	Target   float64
	Min, Max int32
	// Headroom is the multiplier that it needs, ExpectedLate the share of the demand that is expected to be late with it, or to arrive in
	// bad hours if BadHours.
	Headroom, ExpectedLate float64
	// Curve is what is expected under each multiplier; Headroom is read from it. Its shares are those of the Report's objective: of
	// demand in bad hours if BadHours, else of late demand. Other has the shares of the other kind.
	Curve, Other Curve
	BadHours     bool
}

// curveFor is the curve that limits what a goal limits.
func (a *AutoscalerReport) curveFor(asked Goal) Curve {
	if asked.BadHours == a.BadHours {
		return a.Curve
	}
	return a.Other
}

// Candidate is one of those that were simulated, and what it would cost to meet the objective with it.
type Candidate struct {
	Name     string
	Selected bool
	// Headroom is the multiplier that the objective needs; Late and RelativeCost are the share of late demand (with BadHours, of demand in
	// bad hours) and the relative cost that are expected with it. NaN while unknown.
	Headroom, Late, RelativeCost float64
	// MeetsObjective is false while too few hours are observed.
	MeetsObjective bool
}

// loss is the relative cost plus, at a price, that of the lateness.
func (c *Candidate) loss(price float64) float64 { return c.RelativeCost + price*c.Late }

// Deferrable is the work that may wait until a deadline, with the first autoscaler on Forewarm's value.
type Deferrable struct {
	Deadline time.Duration
	// Arrived is the work of the Report's period, and Missed the part of it that missed its deadline, in replica-hours.
	Arrived, Missed float64
	// Waiting is what waits now, in replica-hours.
	Waiting float64
	// DeadlineFloor is the value that it asks for beside the demand; 0 where the demand's headroom leaves enough.
	DeadlineFloor float64
}

// MissedShare is Missed over Arrived; 0 without work.
func (d *Deferrable) MissedShare() float64 {
	if !(d.Arrived > 0) {
		return 0
	}
	return d.Missed / d.Arrived
}

// Account is the demand of a period and what was paid for it, in replica-hours: what one replica serves in an hour.
type Account struct {
	// Arrived is the demand; Late is the part of it that waited longer than the objective's wait, and Bad the part that arrived in bad
	// hours.
	Arrived, Late, Bad float64
	// Judged is the demand of the hours of which enough is known to say whether they were bad.
	Judged float64
	// BadHours is how many of these hours were bad.
	BadHours int
	// ReplicaHours replica-hours.
	ReplicaHours float64
}

// LateShare is Late over Arrived; 0 without demand.
func (a Account) LateShare() float64 {
	if !(a.Arrived > 0) {
		return 0
	}
	return a.Late / a.Arrived
}

// BadShare is the share of the demand that arrived in bad hours; 0 without demand.
func (a Account) BadShare() float64 {
	if !(a.Judged > 0) {
		return 0
	}
	return a.Bad / a.Judged
}

// part is the demand that a goal limits.
func (a Account) part(asked Goal) float64 {
	if asked.BadHours {
		return a.Bad
	}
	return a.Late
}

// share is the share of the demand that a goal limits.
func (a Account) share(asked Goal) float64 {
	if asked.BadHours {
		return a.BadShare()
	}
	return a.LateShare()
}

// judged is the demand of which a goal limits a part.
func (a Account) judged(asked Goal) float64 {
	if asked.BadHours {
		return a.Judged
	}
	return a.Arrived
}

// RelativeCost is Paid over Arrived: 1 is perfect, at 2 half of the replica-hours are idle. NaN without demand.
func (a Account) RelativeCost() float64 {
	if !(a.Arrived > 0) {
		return math.NaN()
	}
	return a.ReplicaHours / a.Arrived
}
