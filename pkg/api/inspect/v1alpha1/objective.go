package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Objective is whether an objective is met. Simulated autoscalers, each with pods and a queue, measure it on the observed
// demand: one scales by the value that forewarm serves, one by the observed demand. Costs are in replica-hours; multiply by
// the GPUs of a replica for GPU-hours.
type Objective struct {
	// Late is the objective: the share of the demand that may wait longer than Wait. Absent with badHours and with a cost ratio.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// BadHours is the objective by bad hours: the share of the demand that may arrive in UTC clock hours in which more than a tenth of
	// the demand waits longer than Wait. Absent without such an objective. With it, the shares expected of a headroom or a candidate
	// (expectedLate, and late in curve and candidates) are those of the demand in bad hours.
	// +optional
	BadHours *float64 `json:"badHours,omitempty"`
	// CostRatio is how many idle replica-hours cost as much as a replica-hour of demand that waits longer than Wait. Absent
	// with an objective.
	// +optional
	CostRatio *float64 `json:"costRatio,omitempty"`
	// Wait is the time beyond which demand counts as late.
	Wait metav1.Duration `json:"wait"`
	// Verdict in one word: Met (with a cost ratio: the cheapest headroom is served), Learning (there is too little history),
	// Bounded (the value is cut to what history justifies), Overspent (more was late than the budget allows), AtMaxReplicas (so
	// it was, as the autoscaler's maxReplicas is too low) or FasterThanLead (so it was, as bursts are faster than replicas start).
	Verdict string `json:"verdict"`
	// Message is the verdict in a sentence, with its numbers.
	Message string `json:"message"`
	// Summary compares the served value with the autoscaler before: lateness and replica-hours.
	Summary string `json:"summary"`

	// Candidate whose forecast of the window peak is served.
	// +optional
	Candidate string `json:"candidate,omitempty"`
	// CandidateReason is why that candidate is selected.
	// +optional
	CandidateReason string `json:"candidateReason,omitempty"`
	// Headroom is the headroom multiplier: what is served above the median of the window peak, as a multiple of its spread.
	// Absent until known.
	// +optional
	Headroom *float64 `json:"headroom,omitempty"`
	// ExpectedLate is the share of the demand that is expected to be late (with badHours: to arrive in bad hours) with that headroom.
	// Absent until known.
	// +optional
	ExpectedLate *float64 `json:"expectedLate,omitempty"`
	// HeadroomReason compares that headroom with a smaller and a larger one.
	// +optional
	HeadroomReason string `json:"headroomReason,omitempty"`

	// Budget is the lateness that the objective allows. Absent with a cost ratio.
	// +optional
	Budget *Budget `json:"budget,omitempty"`
	// Over is the time that Served and Observed are about: the budget's period, or what has passed of it.
	Over metav1.Duration `json:"over"`
	// Served is the result of the first autoscaler with the value that forewarm serves, or would serve in shadow mode.
	Served Account `json:"served"`
	// Hours are the bad hours of that time with the value that forewarm serves: UTC clock hours in which more than a tenth of the demand
	// waited longer than Wait. Absent before an hour is known.
	// +optional
	Hours *Hours `json:"hours,omitempty"`
	// Deferrable is the work that may wait, with the value that forewarm serves. Absent without any.
	// +optional
	Deferrable *Deferrable `json:"deferrable,omitempty"`
	// Measured is what users saw, by objective.measured. Absent without it, and until known.
	// +optional
	Measured *Measured `json:"measured,omitempty"`
	// Observed is the result of an HPA with the same target on the observed demand.
	Observed Account `json:"observed"`
	// Before is the result of an HPA on the observed demand as the workload had it before (spec.scaling.before).
	Before Alternative `json:"before"`
	// Hindsight is the result of the same HPA with the target that was the cheapest of that time while no more was late than the
	// objective allows, or than with Served.
	Hindsight Alternative `json:"hindsight"`
	// Saved is Before less Served; negative where Served takes more.
	Saved Saving `json:"saved"`
	// Headline says in a sentence what Forewarm gains or loses compared with the HPA before, at equal reliability. Empty without demand.
	Headline string `json:"headline"`
	// Comparison has the figures of the headline. Absent without demand.
	// +optional
	Comparison *Comparison `json:"comparison,omitempty"`
	// Replay is that comparison in its course. Absent in lists, and until known.
	// +optional
	Race *Replay `json:"race,omitempty"`

	// Autoscalers are those that read the value, each with the headroom that it needs. The largest is served.
	// +optional
	// +listType=atomic
	Autoscalers []Autoscaler `json:"autoscalers,omitempty"`
	// Candidates are all that were tried, with what it would cost to meet the objective with each.
	// +optional
	// +listType=atomic
	Candidates []CandidateCost `json:"candidates,omitempty"`
}

// Comparison is Forewarm compared with the HPA before at equal reliability: if that HPA misses the objective, with the target with which it
// is as reliable as Forewarm.
type Comparison struct {
	// Verdict is "saves", "no difference" (within 2 %, or within the interval), "costs more", "too late" (Forewarm misses the objective) or
	// "too early" (fewer than three days are known).
	Verdict string `json:"verdict"`
	// Saved is the share of the HPA's replica-hours that Forewarm saves; negative where it uses more. Absent until known.
	// +optional
	Saved *float64 `json:"saved,omitempty"`
	// SavedLow and SavedHigh are its 90 % interval, from leaving out each day in turn. Absent until known.
	// +optional
	SavedLow *float64 `json:"savedLow,omitempty"`
	// +optional
	SavedHigh *float64 `json:"savedHigh,omitempty"`
	// Target of the HPA that is compared, for each replica. Retargeted: it is not the one of the HPA before, which misses the objective.
	Target float64 `json:"target"`
	// +optional
	Retargeted bool `json:"retargeted,omitempty"`
	// Details are the figures in sentences.
	Details string `json:"details"`
}

// Budget is the lateness that an objective allows over a rolling period, as the simulated autoscaler on the served value spends
// it. Amounts are replica-hours of late demand.
type Budget struct {
	// Period of the budget.
	Period metav1.Duration `json:"period"`
	// Allowed is the objective times the demand of the period, or of what has passed of it. Absent until known.
	// +optional
	Allowed *float64 `json:"allowed,omitempty"`
	// Spent is the demand that was late. Absent until known.
	// +optional
	Spent *float64 `json:"spent,omitempty"`
	// Left is Allowed less Spent; negative if too much was late. Absent until known.
	// +optional
	Left *float64 `json:"left,omitempty"`
	// BurnRate is the lateness of the last hour, as a multiple of the objective: at 1, the budget is spent at the end of the
	// period. Absent without demand.
	// +optional
	BurnRate *float64 `json:"burnRate,omitempty"`
	// BurnRateSixHours is the same for the last six hours. Absent without demand.
	// +optional
	BurnRateSixHours *float64 `json:"burnRateSixHours,omitempty"`
	// TargetLate is the objective that the headroom is found for: tightened while the budget is overspent, relaxed while much of
	// it is left. Absent until known.
	// +optional
	TargetLate *float64 `json:"targetLate,omitempty"`
}

// Account is the lateness of a demand and what was paid for it.
type Account struct {
	// Late is the share of the demand that waited longer than the objective's wait. Absent without demand.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// BadHours is how many hours were bad, and BadDemand the share of the demand that arrived in them. Absent before an hour is known.
	// +optional
	BadHours *int32 `json:"badHours,omitempty"`
	// +optional
	BadDemand *float64 `json:"badDemand,omitempty"`
	// ReplicaHours that were paid for. Absent until known.
	// +optional
	ReplicaHours *float64 `json:"replicaHours,omitempty"`
	// RelativeCost is the replica-hours over those of the demand at full capacity: 1 is the least possible, 2 is half idle.
	// Absent without demand.
	// +optional
	RelativeCost *float64 `json:"relativeCost,omitempty"`
}

// Hours are how many hours were bad, and which.
type Hours struct {
	// Judged is how many hours are known well enough to be good or bad, Bad how many were bad.
	Judged int32 `json:"judged"`
	Bad    int32 `json:"bad"`
	// Served is in how many hours forewarm served. The others are replayed: what forewarm would have served.
	Served int32 `json:"served"`
	// BadDemand is the share of the demand that arrived in bad hours.
	BadDemand float64 `json:"badDemand"`
	// BusyHour is the share of the demand that arrives in a busy hour: one of ten hours has more.
	// +optional
	BusyHour *float64 `json:"busyHour,omitempty"`
	// Named are the bad hours with at least a tenth of the mean hour's demand, oldest first.
	// +optional
	// +listType=atomic
	Named []BadHour `json:"named,omitempty"`
}

// BadHour is an hour in which more than a tenth of the demand was late.
type BadHour struct {
	// Start of the hour.
	Start metav1.Time `json:"start"`
	// Late is the share of the hour's demand that was late, Demand the share of the demand of Over that arrived in the hour.
	Late   float64 `json:"late"`
	Demand float64 `json:"demand"`
	// Replayed: forewarm did not serve in this hour, and this is what it would have done.
	// +optional
	Replayed bool `json:"replayed,omitempty"`
}

// Measured is the lateness that a query of the source measures.
type Measured struct {
	// Late is the share of the requests that waited longer than the objective's wait, weighed by demand.
	Late float64 `json:"late"`
	// Known is how much of the budget's period it is about.
	Known metav1.Duration `json:"known"`
}

// Alternative is an HPA on the observed demand, and what it came to.
type Alternative struct {
	Account `json:",inline"`
	// Target is the demand for each replica, in the demand's unit.
	// +optional
	Target *float64 `json:"target,omitempty"`
	// Assumed is true where the target is 70% of what a replica sustains, because spec.scaling.before does not name it.
	// +optional
	Assumed bool `json:"assumed,omitempty"`
}

// Replay is the course of the budget's period in intervals of equal length, the oldest first.
type Replay struct {
	// Start of the first interval.
	Start metav1.Time `json:"start"`
	// Step is the length of an interval.
	Step metav1.Duration `json:"step"`
	// Demand is the highest of each interval, in replicas at full capacity; -1 where it is unknown.
	// +listType=atomic
	Demand []float64 `json:"demand"`
	// Before is the HPA as it was before.
	Before ReplayTrack `json:"before"`
	// Forewarm is the autoscaler with the value that forewarm serves, or would serve in shadow mode.
	Forewarm ReplayTrack `json:"forewarm"`
	// Actual are the replicas that were ready in the cluster at the beginning of each interval; -1 where that is unknown. Absent where
	// the source has no kube-state-metrics, or they cannot be counted.
	// +optional
	// +listType=atomic
	Actual []int32 `json:"actual,omitempty"`
}

// ReplayTrack is an autoscaler in a race.
type ReplayTrack struct {
	// Ready replicas when the demand of each interval was highest.
	// +listType=atomic
	Ready []int32 `json:"ready"`
	// Late is the share of each interval's demand that waited longer than the objective's wait.
	// +listType=atomic
	Late []float64 `json:"late"`
}

// Saving is the difference of two accounts.
type Saving struct {
	// ReplicaHours that are saved.
	// +optional
	ReplicaHours *float64 `json:"replicaHours,omitempty"`
	// Late is the share of the demand that is no longer late.
	// +optional
	Late *float64 `json:"late,omitempty"`
}

// Autoscaler is one that reads the value, and the headroom that it needs.
type Autoscaler struct {
	// Name of the autoscaler, for example HorizontalPodAutoscaler/llama; spec.scaling where none reads the value.
	Name string `json:"name"`
	// Target is the demand that one replica sustains, in the demand's unit.
	// +optional
	Target *float64 `json:"target,omitempty"`
	// MinReplicas and MaxReplicas bound the replicas.
	MinReplicas int32 `json:"minReplicas"`
	MaxReplicas int32 `json:"maxReplicas"`
	// Headroom is the headroom multiplier that it needs. Absent until known.
	// +optional
	Headroom *float64 `json:"headroom,omitempty"`
	// ExpectedLate is the share of the demand that is expected to be late with it. Absent until known.
	// +optional
	ExpectedLate *float64 `json:"expectedLate,omitempty"`
	// Curve is what is expected at each headroom. Headroom is read from it.
	// +optional
	// +listType=atomic
	Curve []HeadroomPoint `json:"curve,omitempty"`
}

// HeadroomPoint is what is expected at a headroom.
type HeadroomPoint struct {
	// Headroom multiplier.
	Headroom float64 `json:"headroom"`
	// Late is the share of the demand that is expected to be late. Absent until known.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// RelativeCost is the replica-hours over those of the demand at full capacity. Absent until known.
	// +optional
	RelativeCost *float64 `json:"relativeCost,omitempty"`
}

// CandidateCost is what it would cost to meet the objective with a candidate.
type CandidateCost struct {
	// Name is regression, last-value, last-season, last-week or a model's.
	Name string `json:"name"`
	// Selected is true for the candidate that is served.
	// +optional
	Selected bool `json:"selected,omitempty"`
	// MeetsObjective is whether the objective is met with it.
	// +optional
	MeetsObjective bool `json:"meetsObjective,omitempty"`
	// Headroom is the headroom multiplier that it needs. Absent until known.
	// +optional
	Headroom *float64 `json:"headroom,omitempty"`
	// Late is the share of the demand that is expected to be late with it. Absent until known.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// RelativeCost is the replica-hours that it needs, over those of the demand. Absent until known.
	// +optional
	RelativeCost *float64 `json:"relativeCost,omitempty"`
}

// Deferrable is the work that may wait until a deadline, as the first autoscaler does it with the value that forewarm serves.
type Deferrable struct {
	// Deadline is how long it may wait.
	Deadline metav1.Duration `json:"deadline"`
	// ReplicaHours of work that arrived in the objective's period.
	ReplicaHours float64 `json:"replicaHours"`
	// Missed is the share of it that missed its deadline. Absent without work.
	// +optional
	Missed *float64 `json:"missed,omitempty"`
	// Waiting is what waits now, in replica-hours.
	Waiting float64 `json:"waiting"`
	// Needed is the value that it asks for beside the demand. Absent where the demand's headroom leaves enough.
	// +optional
	Needed *float64 `json:"needed,omitempty"`
}
