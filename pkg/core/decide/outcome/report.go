package outcome

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/credible"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/margin"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Report is how an objective fares: what shadows of the workload, scaled by what was served, did with the demand that
// came.
type Report struct {
	// Late is the objective: the share of the demand that may wait longer than Wait. 0 where a Price rules.
	Late float64
	Wait time.Duration
	// Price of a replica's worth of demand that waits longer, in idle replicas; 0 where an objective rules.
	Price float64
	// Verdict says whether it is met; Hours were seen to tell.
	Verdict Verdict
	Hours   int
	// Choice is which candidate serves, and why.
	Choice decide.Choice
	// Candidates are all that were tried with what they would cost, the one that serves included.
	Candidates []Candidate
	// Scalings are the autoscalers that read the value, each with the margin that it needs; the largest is served.
	Scalings []Scaled
	// Named are the candidates that autoscalers ask for by name, each calibrated for these.
	Named []NamedCandidate
	// Over is the time that the accounts are of: the newest week at most.
	Over time.Duration
	// Served is what the first of the autoscalers did, or would have done, by what forewarm says; Observed by the observed
	// demand itself, which costs nothing to serve.
	Served, Observed Account
	// PeakReplicas are those that the highest demand of that time takes; Lead is how long they take to start.
	PeakReplicas int
	Lead         time.Duration
	// Limit is what history justifies now, where what is served is Bounded by it.
	Limit credible.Limit
}

// NamedCandidate is a candidate that autoscalers ask for by name.
type NamedCandidate struct {
	Name string
	// Scalings are these autoscalers, each with the headroom that it needs.
	Scalings []Scaled
	// Inputs are the candidate's over the last half lead time, newest last.
	Inputs []decide.Input
}

// K is the multiple of the spread for a policy's cost ratio or else its objective, be it another than the Report's: the
// largest that any of the autoscalers needs.
func (r *Report) K(policy decide.Policy) float64 { return widest(r.Scalings, policy) }

// K see Report.K, of the autoscalers that ask for the candidate.
func (n *NamedCandidate) K(policy decide.Policy) float64 { return widest(n.Scalings, policy) }

func widest(scalings []Scaled, policy decide.Policy) float64 {
	k := 0.0
	for i := range scalings {
		one, _ := needs(scalings[i].Curve, policy.CostRatio, policy.Late)
		k = math.Max(k, one)
	}
	return k
}

// Find is the candidate that autoscalers ask for by a name; nil where none does.
func (r *Report) Find(name string) *NamedCandidate {
	for i := range r.Named {
		if r.Named[i].Name == name {
			return &r.Named[i]
		}
	}
	return nil
}

// Skill is 1 − loss/loss of the last value, of the candidate that serves, by the loss that it was chosen by; NaN until both
// are known.
func (r *Report) Skill() float64 {
	serves, last := math.NaN(), math.NaN()
	for _, c := range r.Candidates {
		if c.Serves {
			serves = c.loss(r.Price)
		}
		if c.Name == windowpeak.LastValue {
			last = c.loss(r.Price)
		}
	}
	return 1 - serves/last
}

// Bound takes down that what is served was cut to a limit: whether the objective is met cannot be told then.
func (r *Report) Bound(limit credible.Limit) {
	if r.Verdict != Met {
		return
	}
	r.Verdict, r.Limit = Bounded, limit
}

// needs is the multiple that a curve says is needed at a price or, where that is 0, for an objective, and whether it is met
// with it. A price asks for nothing that could be missed.
func needs(curve margin.Curve, price, late float64) (k float64, met bool) {
	if price > 0 {
		return curve.Cheapest(price), true
	}
	return curve.K(late)
}

// Verdict is whether an objective is met, in a word.
type Verdict string

// The verdicts.
const (
	// Met: no more of the demand is expected to be late than was asked; at a price, the cheapest margin is served.
	Met Verdict = "Met"
	// Learning: too little of the workload was seen to say; the margin is that of other workloads, and careful.
	Learning Verdict = "Learning"
	// AtMaxReplicas: the autoscaler may not scale as far as it would take.
	AtMaxReplicas Verdict = "AtMaxReplicas"
	// FasterThanLead: bursts come faster than replicas start; a larger margin would cost more than it is worth.
	FasterThanLead Verdict = "FasterThanLead"
	// Bounded: what is served now is less than the objective takes, because history does not justify more.
	Bounded Verdict = "Bounded"
)

// Scaled is one autoscaler's margin.
type Scaled struct {
	// By names the autoscaler, see decide.Scaling.
	By string
	// Target is what a replica sustains, in the demand's unit; Min and Max bound the replicas.
	Target   float64
	Min, Max int32
	// K is the multiple of the spread that it needs, Expected the share of the demand that is expected to be late with it.
	K, Expected float64
	// Curve is what is expected under each multiple; K is read from it.
	Curve margin.Curve
}

// Candidate is one of those that were tried, and what it would cost to meet the objective with it.
type Candidate struct {
	Name string
	// Serves says that its forecast is served.
	Serves bool
	// K is the multiple that it would take; Late the share of the demand expected to be late with it, Cost the
	// replica-hours that it would take for each of the demand. NaN while unknown.
	K, Late, Cost float64
	// Meets the objective.
	Meets bool
}

// loss is what is to be least: the cost and, at a price, the lateness.
func (c *Candidate) loss(price float64) float64 { return c.Cost + price*c.Late }

// Account is what became of a demand and what was paid, in replica-hours: what one replica serves in an hour.
type Account struct {
	// Arrived is the demand; Late is the part of it that waited longer than the objective's wait.
	Arrived, Late float64
	// Paid are the replica-hours.
	Paid float64
}

// LateShare is the share of the demand that was late; 0 without demand.
func (a Account) LateShare() float64 {
	if !(a.Arrived > 0) {
		return 0
	}
	return a.Late / a.Arrived
}

// Cost is the replica-hours paid for over those of the demand: 1 is perfection, 2 half idle. NaN without demand.
func (a Account) Cost() float64 {
	if !(a.Arrived > 0) {
		return math.NaN()
	}
	return a.Paid / a.Arrived
}
