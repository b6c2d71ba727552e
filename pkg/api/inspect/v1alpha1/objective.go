package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Objective says whether the objective is met. Forewarm measures this with simulated autoscalers on the observed
// demand, each with its own pods and queue. One of them scales on the value that Forewarm serves, and another one
// scales on the observed demand. Costs are in replica-hours. To get GPU-hours, multiply them by the number of GPUs per
// replica.
type Objective struct {
	// Late is the objective: the share of the demand that is allowed to wait longer than the time in wait. Absent if
	// the objective is badHours or a cost ratio.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// BadHours is the objective in bad hours: the share of the demand that is allowed to arrive in UTC clock hours in
	// which more than a tenth of the demand waits longer than the time in wait. Absent without such an objective. If
	// badHours is set, the fields expectedLate, curve.late and candidates.late also contain the share of the demand in
	// bad hours.
	// +optional
	BadHours *float64 `json:"badHours,omitempty"`
	// CostRatio is how many idle replica-hours cost as much as one replica-hour of demand that waits longer than the
	// time in wait. Absent without a cost ratio.
	// +optional
	CostRatio *float64 `json:"costRatio,omitempty"`
	// Wait is how long demand can wait before it counts as late.
	Wait metav1.Duration `json:"wait"`
	// Verdict says in one word whether the objective is met. Met: the objective is met or, with a cost ratio, Forewarm
	// serves the cheapest headroom. Learning: there is too little history. Bounded: Forewarm limits the served value,
	// because the history does not justify a higher one. Overspent: more demand was late than the budget allows.
	// AtMaxReplicas: more demand was late than the budget allows, because maxReplicas of the autoscaler is too low.
	// FasterThanLead: more demand was late than the budget allows, because demand rises faster than replicas start.
	Verdict string `json:"verdict"`
	// Message explains the verdict in a sentence with numbers.
	Message string `json:"message"`
	// Summary compares the served value with the previous autoscaler: lateness and replica-hours.
	Summary string `json:"summary"`

	// Candidate is the forecast method that Forewarm currently uses for the window peak.
	// +optional
	Candidate string `json:"candidate,omitempty"`
	// CandidateReason says why Forewarm selected this candidate.
	// +optional
	CandidateReason string `json:"candidateReason,omitempty"`
	// Headroom is the headroom multiplier. It says how far the served value is above the median forecast of the window
	// peak, as a multiple of the spread of that forecast. Absent until it is known.
	// +optional
	Headroom *float64 `json:"headroom,omitempty"`
	// ExpectedLate is the share of the demand that is expected to be late with this headroom. With badHours it is the
	// share that is expected to arrive in bad hours. Absent until it is known.
	// +optional
	ExpectedLate *float64 `json:"expectedLate,omitempty"`
	// HeadroomReason says why this headroom was chosen, by comparing it with a smaller and a larger one.
	// +optional
	HeadroomReason string `json:"headroomReason,omitempty"`

	// Budget is the lateness that the objective allows. Absent with a cost ratio.
	// +optional
	Budget *Budget `json:"budget,omitempty"`
	// Over is the length of the time that the results refer to: the budget's period, or the part of it for which there
	// is data.
	Over metav1.Duration `json:"over"`
	// Served is the result of the first autoscaler in autoscalers when it scales on the value that Forewarm serves, or
	// that it would serve if it were not in shadow mode.
	Served Account `json:"served"`
	// Hours says which hours in over were bad with the value that Forewarm serves. A bad hour is a UTC clock hour in
	// which more than a tenth of the demand waited longer than the time in wait. Absent until an hour is known.
	// +optional
	Hours *Hours `json:"hours,omitempty"`
	// Deferrable is the result for the deferrable work, with the value that Forewarm serves. Absent if there is no such
	// work.
	// +optional
	Deferrable *Deferrable `json:"deferrable,omitempty"`
	// Measured is the lateness that users saw, as measured by the query in spec.objective.measured. Absent if that
	// field is not set, and until it is known.
	// +optional
	Measured *Measured `json:"measured,omitempty"`
	// Observed is the result of an HPA with the same target that scales on the observed demand.
	Observed Account `json:"observed"`
	// Before is the result of the previous HPA, which scaled the workload before Forewarm did (spec.scaling.before), on
	// the observed demand.
	Before Alternative `json:"before"`
	// Hindsight is the result of the previous HPA with the best target in hindsight. This is the cheapest target with
	// which the HPA meets the objective, or with which no more demand is late than in served if Forewarm misses the
	// objective.
	Hindsight Alternative `json:"hindsight"`
	// Saved is the difference before minus served. A number in it is negative if served is higher.
	Saved Saving `json:"saved"`
	// Headline says in one sentence how much Forewarm saved or lost, compared with the previous HPA at equal
	// reliability. Empty if there was no demand.
	Headline string `json:"headline"`
	// Comparison contains the figures behind the headline. Absent if there was no demand.
	// +optional
	Comparison *Comparison `json:"comparison,omitempty"`
	// Race shows how this comparison developed over time. Absent in lists, and until it is known.
	// +optional
	Race *Replay `json:"race,omitempty"`

	// Autoscalers lists the autoscalers that read the value, each with the headroom that it needs. Forewarm uses the
	// largest of these headrooms.
	// +optional
	// +listType=atomic
	Autoscalers []Autoscaler `json:"autoscalers,omitempty"`
	// Candidates lists all candidates that Forewarm tried, and what it would cost to meet the objective with each of
	// them.
	// +optional
	// +listType=atomic
	Candidates []CandidateCost `json:"candidates,omitempty"`
}

// Comparison compares Forewarm with the previous HPA at equal reliability. If the previous HPA misses the objective,
// the comparison uses a different target, with which that HPA is as reliable as Forewarm.
type Comparison struct {
	// Verdict is "saves", "no difference" (the difference is at most 2 %, or the confidence interval includes zero),
	// "costs more", "too late" (Forewarm misses the objective) or "too early" (less than three days of data).
	Verdict string `json:"verdict"`
	// Saved is the share of the HPA's replica-hours that Forewarm saves. It is negative if Forewarm uses more. Absent
	// until it is known.
	// +optional
	Saved *float64 `json:"saved,omitempty"`
	// SavedLow is the lower end of the 90 % confidence interval of saved. Forewarm calculates the interval by leaving
	// out each day in turn. Absent until it is known.
	// +optional
	SavedLow *float64 `json:"savedLow,omitempty"`
	// SavedHigh is the upper end of this interval.
	// +optional
	SavedHigh *float64 `json:"savedHigh,omitempty"`
	// Target is the target of the HPA in the comparison: the demand per replica, in the unit of the demand.
	Target float64 `json:"target"`
	// Retargeted is true if target is not the target that the previous HPA had, because with that target the HPA misses
	// the objective.
	// +optional
	Retargeted bool `json:"retargeted,omitempty"`
	// Details explains the figures in sentences.
	Details string `json:"details"`
}

// Budget is the lateness that an objective allows over a rolling period, and how much of it has been used up in the
// simulation with the served value. Amounts are replica-hours of late demand.
type Budget struct {
	// Period is the length of the budget's period.
	Period metav1.Duration `json:"period"`
	// Allowed is how much demand can be late: the objective multiplied by the demand of the period, or of the part of
	// it for which there is data. Absent until it is known.
	// +optional
	Allowed *float64 `json:"allowed,omitempty"`
	// Spent is how much demand was late. Absent until it is known.
	// +optional
	Spent *float64 `json:"spent,omitempty"`
	// Left is allowed minus spent. It is negative if too much demand was late. Absent until it is known.
	// +optional
	Left *float64 `json:"left,omitempty"`
	// BurnRate says how fast the budget was used up in the last hour: it is the lateness of that hour as a multiple
	// of the objective. At a constant 1, the budget is used up exactly at the end of the period. Absent without
	// demand.
	// +optional
	BurnRate *float64 `json:"burnRate,omitempty"`
	// BurnRateSixHours is the burn rate of the last six hours. Absent without demand.
	// +optional
	BurnRateSixHours *float64 `json:"burnRateSixHours,omitempty"`
	// TargetLate is the share of late demand that Forewarm currently allows when it chooses the headroom. It is
	// stricter than the configured objective while the budget is overspent, and looser while much of the budget is
	// left. Absent until it is known.
	// +optional
	TargetLate *float64 `json:"targetLate,omitempty"`
}

// Account says how much demand was late, and how many replica-hours were used.
type Account struct {
	// Late is the share of the demand that waited longer than the objective allows. Absent without demand.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// BadHours is the number of bad hours. Absent until an hour is known.
	// +optional
	BadHours *int32 `json:"badHours,omitempty"`
	// BadDemand is the share of the demand that arrived in bad hours. Absent until an hour is known.
	// +optional
	BadDemand *float64 `json:"badDemand,omitempty"`
	// ReplicaHours is how many replica-hours were used. Absent until it is known.
	// +optional
	ReplicaHours *float64 `json:"replicaHours,omitempty"`
	// RelativeCost is the replica-hours, divided by the replica-hours that the demand needs at full capacity. 1 is
	// the lowest possible value, and at 2 the replicas are idle half of the time. Absent without demand.
	// +optional
	RelativeCost *float64 `json:"relativeCost,omitempty"`
}

// Hours says how many hours were bad, and which hours.
type Hours struct {
	// Judged is the number of hours for which there is enough data to say whether they were bad.
	Judged int32 `json:"judged"`
	// Bad is the number of bad hours.
	Bad int32 `json:"bad"`
	// Served is the number of hours in which Forewarm served a value. For the other hours, Forewarm simulates what it
	// would have served.
	Served int32 `json:"served"`
	// BadDemand is the share of the demand that arrived in bad hours.
	BadDemand float64 `json:"badDemand"`
	// BusyHour is the share of the demand that arrives in a typical busy hour: only one hour in ten has a larger share.
	// +optional
	BusyHour *float64 `json:"busyHour,omitempty"`
	// Named lists the bad hours in which at least a tenth of an average hour's demand arrived, oldest first.
	// +optional
	// +listType=atomic
	Named []BadHour `json:"named,omitempty"`
}

// BadHour is an hour in which more than a tenth of the demand was late.
type BadHour struct {
	// Start is when the hour began.
	Start metav1.Time `json:"start"`
	// Late is the share of this hour's demand that was late.
	Late float64 `json:"late"`
	// Demand is this hour's demand, as a share of all demand in the period of the field over.
	Demand float64 `json:"demand"`
	// Replayed is true if Forewarm served no value in this hour. In that case, late is a simulation of what would have
	// happened.
	// +optional
	Replayed bool `json:"replayed,omitempty"`
}

// Measured is the lateness that a query to the source measures.
type Measured struct {
	// Late is the share of the requests that waited longer than the objective allows, weighted by demand.
	Late float64 `json:"late"`
	// Known is the length of the part of the budget's period for which there are measurements.
	Known metav1.Duration `json:"known"`
}

// Alternative is the result of an HPA that scales on the observed demand.
type Alternative struct {
	Account `json:",inline"`
	// Target is the target of that HPA: the demand per replica, in the unit of the demand.
	// +optional
	Target *float64 `json:"target,omitempty"`
	// Assumed is true if spec.scaling.before does not set a target. In that case, the target is 70% of what a replica
	// sustains.
	// +optional
	Assumed bool `json:"assumed,omitempty"`
}

// Replay shows the budget's period in intervals of equal length, oldest first.
type Replay struct {
	// Start is when the first interval begins.
	Start metav1.Time `json:"start"`
	// Step is the length of an interval.
	Step metav1.Duration `json:"step"`
	// Demand is the highest demand of each interval, in replicas at full capacity. It is -1 in intervals for which it
	// is unknown.
	// +listType=atomic
	Demand []float64 `json:"demand"`
	// Before is the previous HPA.
	Before ReplayTrack `json:"before"`
	// Forewarm is the autoscaler that scales on the value that Forewarm serves, or that it would serve if it were not
	// in shadow mode.
	Forewarm ReplayTrack `json:"forewarm"`
	// Actual is how many replicas were ready in the cluster at the beginning of each interval. It is -1 in intervals
	// for which it is unknown. Absent if the source has no metrics from kube-state-metrics, or if Forewarm cannot count
	// the replicas.
	// +optional
	// +listType=atomic
	Actual []int32 `json:"actual,omitempty"`
}

// ReplayTrack is the course of one autoscaler in a replay.
type ReplayTrack struct {
	// Ready is how many replicas were ready at the moment of highest demand in each interval.
	// +listType=atomic
	Ready []int32 `json:"ready"`
	// Late is the share of each interval's demand that waited longer than the objective allows, from 0 to 1.
	// +listType=atomic
	Late []float64 `json:"late"`
}

// Saving is the difference between two results.
type Saving struct {
	// ReplicaHours is how many replica-hours are saved.
	// +optional
	ReplicaHours *float64 `json:"replicaHours,omitempty"`
	// Late is how much lower the late share of the demand is, from -1 to 1.
	// +optional
	Late *float64 `json:"late,omitempty"`
}

// Autoscaler is an autoscaler that reads the value, with the headroom that it needs.
type Autoscaler struct {
	// Name is the name of the autoscaler, for example HorizontalPodAutoscaler/llama. If no autoscaler reads the value,
	// the name is spec.scaling.
	Name string `json:"name"`
	// Target is the demand that one replica sustains, in the unit of the demand.
	// +optional
	Target *float64 `json:"target,omitempty"`
	// MinReplicas is the lower limit for the number of replicas.
	MinReplicas int32 `json:"minReplicas"`
	// MaxReplicas is the upper limit for the number of replicas.
	MaxReplicas int32 `json:"maxReplicas"`
	// Headroom is the headroom multiplier that this autoscaler needs. Absent until it is known.
	// +optional
	Headroom *float64 `json:"headroom,omitempty"`
	// ExpectedLate is the share of the demand that is expected to be late with this headroom. Absent until it is
	// known.
	// +optional
	ExpectedLate *float64 `json:"expectedLate,omitempty"`
	// Curve lists the expected lateness and cost of different headrooms. Forewarm chooses the headroom from this
	// list.
	// +optional
	// +listType=atomic
	Curve []HeadroomPoint `json:"curve,omitempty"`
}

// HeadroomPoint is the expected lateness and cost of one headroom.
type HeadroomPoint struct {
	// Headroom is the headroom multiplier.
	Headroom float64 `json:"headroom"`
	// Late is the share of the demand that is expected to be late. Absent until it is known.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// RelativeCost is the replica-hours, divided by the replica-hours that the demand needs at full capacity. Absent
	// until it is known.
	// +optional
	RelativeCost *float64 `json:"relativeCost,omitempty"`
}

// CandidateCost says what it would cost to meet the objective with one candidate.
type CandidateCost struct {
	// Name is regression, last-value, last-season, last-week or the name of a model.
	Name string `json:"name"`
	// Selected is true for the candidate that Forewarm currently uses.
	// +optional
	Selected bool `json:"selected,omitempty"`
	// MeetsObjective is true if the objective is met with this candidate.
	// +optional
	MeetsObjective bool `json:"meetsObjective,omitempty"`
	// Headroom is the headroom multiplier that this candidate needs. Absent until it is known.
	// +optional
	Headroom *float64 `json:"headroom,omitempty"`
	// Late is the share of the demand that is expected to be late with this candidate. Absent until it is known.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// RelativeCost is the replica-hours that this candidate needs, divided by the replica-hours that the demand needs
	// at full capacity. Absent until it is known.
	// +optional
	RelativeCost *float64 `json:"relativeCost,omitempty"`
}

// Deferrable says what happens to the work that can wait until a deadline, if the first autoscaler in autoscalers
// scales on the value that Forewarm serves.
type Deferrable struct {
	// Deadline is how long the work can wait after it has arrived.
	Deadline metav1.Duration `json:"deadline"`
	// ReplicaHours is how much work arrived in the objective's period, in replica-hours.
	ReplicaHours float64 `json:"replicaHours"`
	// Missed is the share of this work that missed its deadline. Absent without work.
	// +optional
	Missed *float64 `json:"missed,omitempty"`
	// Waiting is how much work is waiting now, in replica-hours.
	Waiting float64 `json:"waiting"`
	// Needed is the value that the demand and the deferrable work need together, so that the work meets its deadline.
	// Absent while the headroom leaves enough capacity for the work.
	// +optional
	Needed *float64 `json:"needed,omitempty"`
}
