package objective

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/verdict"
)

// Report says whether an objective is met, with the lateness and the cost of simulated autoscalers.
type Report struct {
	// Late is the objective: the share of the demand that may wait longer than Wait or, with BadHours, that may arrive in hours in which
	// more than a tenth of the demand waits longer. 0 if a Price is set instead.
	Late     float64
	BadHours bool
	Wait     time.Duration
	// Price of a replica's worth of late demand, in idle replicas; 0 if an objective is set.
	Price float64
	// TargetLate is the objective for which the headroom is computed: Late, tightened or relaxed depending on the rest of the Budget.
	TargetLate float64
	// Verdict says whether the objective is met, based on the observed Hours.
	Verdict Verdict
	Hours   int
	// Selection is the selected candidate and the reason.
	Selection decide.SelectionReason
	// Candidates are all simulated candidates, including the selected one.
	Candidates []Candidate
	// Autoscalers that read the served value, each with the headroom that it needs. Forewarm serves the largest headroom.
	Autoscalers []AutoscalerReport
	// Named are the candidates that autoscalers select by name.
	Named []NamedReport
	// Budget is what the objective allows and how much of it is spent; zero at a price.
	Budget Budget
	// Period that the accounts cover: the budget's period, or the part of it that has passed.
	Period time.Duration
	// Bad are the bad hours of the period with Forewarm's value.
	Bad BadHours
	// Record contains the hours that Forewarm has served; nil before the first hour.
	Record *Record
	// Served is the account of the first autoscaler on the value that Forewarm served. For earlier times, it uses the value that Forewarm
	// would have served. Observed is the account of an HPA with the same target on the observed demand.
	Served, Observed Account
	// Before is the previous HPA of the workload, with AssumedTarget if BeforeAssumed. Hindsight is the same HPA with the cheapest target
	// for this period with which the lateness is at most the objective, or at most Forewarm's lateness if that was worse.
	Before, Hindsight Alternative
	BeforeAssumed     bool
	// Judged compares Served with Before at equal reliability; nil without demand.
	Judged *verdict.Verdict
	// Deferrable is the deferrable work; nil if there is none.
	Deferrable *Deferrable
	// Measured is the lateness that users saw; nil unless a query measures it.
	Measured *Measured
	// Replay is the course of the period.
	Replay *Replay
	// PeakReplicas is how many replicas the highest demand of the period needs; Lead is how long they take to start.
	PeakReplicas int
	Lead         time.Duration
	// Limit is the most that the history justifies, if the verdict is Bounded.
	Limit demand.Limit
}

// NamedReport is the report on a candidate that autoscalers select by name.
type NamedReport struct {
	Name string
	// Autoscalers that select the candidate, each with the headroom that it needs.
	Autoscalers []AutoscalerReport
	// Inputs are the inputs of the candidate over the last half lead time, newest last.
	Inputs []decide.Input
}

// HeadroomFor is the multiplier for the cost ratio or the objective of the settings, which may differ from the Report's objective. It is the
// largest multiplier that any of the autoscalers needs. An objective of the same kind is tightened or relaxed as much as the Report's.
func (r *Report) HeadroomFor(settings decide.Settings) float64 {
	target := settings.Late
	if r.Price == 0 && r.Late > 0 && settings.BadHours == r.BadHours {
		target = min(target*r.TargetLate/r.Late, 1)
	}
	return largestHeadroom(r.Autoscalers, settings, target)
}

// HeadroomFor is like Report.HeadroomFor, with the autoscalers that select the candidate.
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
	// Met (True): the late demand is within the lateness budget. With costRatio, Forewarm uses the headroom with the lowest total cost.
	// The budget covers a period and is not a limit for each day.
	Met Verdict = "Met"
	// Learning (False): less than a day of demand was observed. Most of the headroom is what other workloads needed.
	//
	// Fix: wait.
	Learning Verdict = "Learning"
	// Bounded (False): the value that the objective needs is above the bound (docs/concepts.md#the-bound). Forewarm serves the bound, and
	// does not know whether the objective is met.
	//
	// Fix: wait until the history justifies the demand.
	Bounded Verdict = "Bounded"
	// Overspent (False): more demand was late over the budget's period than the objective allows. Forewarm uses more headroom until the
	// lateness is within the budget again.
	//
	// Fix: wait. If the verdict does not change, allow more late demand, or shorten the start time of the replicas.
	Overspent Verdict = "Overspent"
	// AtMaxReplicas (False): the budget is overspent, mostly while the autoscaler was at maxReplicas. The message says how many replicas are
	// needed.
	//
	// Fix: raise maxReplicas, or allow more late demand.
	AtMaxReplicas Verdict = "AtMaxReplicas"
	// FasterThanLead (False): the budget is overspent, because the demand rises faster than new replicas start.
	//
	// Fix: shorten the start time of the replicas (for example with warm nodes, a smaller image or faster loading of the weights), or
	// allow more late demand.
	FasterThanLead Verdict = "FasterThanLead"
)

// AutoscalerReport is the headroom of one autoscaler.
type AutoscalerReport struct {
	// Name as in decide.Autoscaler.
	Name string
	// Target is what a replica sustains, in the demand's unit; Min and Max bound the replicas.
	Target   float64
	Min, Max int32
	// Headroom is the multiplier that it needs. ExpectedLate is the share of the demand that is expected to be late with this headroom or,
	// if BadHours, to arrive in bad hours.
	Headroom, ExpectedLate float64
	// Curve contains the expected lateness and cost for each multiplier; Headroom is read from it. Its shares are of the kind that the
	// Report's objective limits: demand in bad hours if BadHours, otherwise late demand. Other contains the shares of the other kind.
	Curve, Other Curve
	BadHours     bool
}

// curveFor is the curve with the shares that a goal limits.
func (a *AutoscalerReport) curveFor(asked Goal) Curve {
	if asked.BadHours == a.BadHours {
		return a.Curve
	}
	return a.Other
}

// Candidate is a simulated candidate, with the cost of meeting the objective with it.
type Candidate struct {
	Name     string
	Selected bool
	// Headroom is the multiplier that the objective needs. With this headroom, Late is the expected share of late demand (with BadHours, of
	// demand in bad hours), and RelativeCost is the expected relative cost. NaN while unknown.
	Headroom, Late, RelativeCost float64
	// MeetsObjective is also false while too few hours have been observed.
	MeetsObjective bool
}

// loss is the relative cost plus, at a price, the cost of the lateness.
func (c *Candidate) loss(price float64) float64 { return c.RelativeCost + price*c.Late }

// Deferrable is the report on deferrable work, with the first autoscaler on Forewarm's value.
type Deferrable struct {
	Deadline time.Duration
	// Arrived is the work of the Report's period, and Missed the part of it that missed its deadline, in replica-hours.
	Arrived, Missed float64
	// Waiting is the work that is waiting now, in replica-hours.
	Waiting float64
	// DeadlineFloor is the value that the work needs in addition to the demand; 0 if the headroom of the demand is sufficient.
	DeadlineFloor float64
}

// MissedShare is Missed over Arrived; 0 without work.
func (d *Deferrable) MissedShare() float64 {
	if !(d.Arrived > 0) {
		return 0
	}
	return d.Missed / d.Arrived
}

// Account is the demand of a period and its cost. Both are in replica-hours, the work that one replica does in an hour.
type Account struct {
	// Arrived is the demand; Late is the part of it that waited longer than the objective's wait, and Bad the part that arrived in bad
	// hours.
	Arrived, Late, Bad float64
	// Judged is the demand of the hours that are known well enough to decide whether they were bad.
	Judged float64
	// BadHours is how many of these hours were bad.
	BadHours int
	// ReplicaHours is the cost.
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

// RelativeCost is ReplicaHours over Arrived. 1 is perfect; at 2, half of the replica-hours are idle. It is NaN without demand.
func (a Account) RelativeCost() float64 {
	if !(a.Arrived > 0) {
		return math.NaN()
	}
	return a.ReplicaHours / a.Arrived
}
