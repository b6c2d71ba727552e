package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ForecastStatus is the state of the Forecast as forewarm last saw it. It outlives an outage of forewarm. The whole forecast
// is `kubectl get outlooks`. Quantities are rounded, for people; the metric has all digits.
type ForecastStatus struct {
	// ObservedGeneration is the generation of the spec that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// State in a word: Ready, Warming, FallingBack, Stale, Pending or Invalid.
	// +optional
	State string `json:"state,omitempty"`

	// Conditions with reasons and advice. Ready is true while a value is served as asked.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Observed is the demand now.
	// +optional
	Observed string `json:"observed,omitempty"`

	// Served is the value that the metric answers; absent while nothing is served.
	// +optional
	Served string `json:"served,omitempty"`

	// Unit of Observed and Served, where it is known.
	// +optional
	Unit string `json:"unit,omitempty"`

	// Model that is selected.
	// +optional
	Model string `json:"model,omitempty"`

	// ModelReason is why that model is selected.
	// +optional
	ModelReason string `json:"modelReason,omitempty"`

	// LeadTime in use.
	// +optional
	LeadTime string `json:"leadTime,omitempty"`

	// LeadTimeSource is where the lead time comes from.
	// +optional
	LeadTimeSource string `json:"leadTimeSource,omitempty"`

	// Starts are the measured starts of the workload's pods, from which the lead time follows.
	// +optional
	Starts *Starts `json:"starts,omitempty"`

	// ScaledToZero is when the workload stood at zero replicas: its signal's absence at such a time is demand 0, not a gap.
	// +optional
	ScaledToZero *ScaledToZero `json:"scaledToZero,omitempty"`

	// ServedRecord is what the served values did, hour by hour.
	// +optional
	ServedRecord *ServedRecord `json:"servedRecord,omitempty"`

	// Window is the lead window that the served value looks over.
	// +optional
	Window string `json:"window,omitempty"`

	// Skill is by how many percent the model's loss is below the last value's. The loss is the cost under an objective, else
	// the pinball loss.
	// +optional
	Skill string `json:"skill,omitempty"`

	// Coverage is the share of past windows that stayed within the served value's quantile, in percent.
	// +optional
	Coverage string `json:"coverage,omitempty"`

	// Objective is whether the objective is met. Absent without an objective that is calibrated. The condition ObjectiveMet
	// has the numbers.
	// +optional
	Objective *ObjectiveStatus `json:"objective,omitempty"`

	// SampleTime is the time of the newest sample when the status was written.
	// +optional
	SampleTime *metav1.Time `json:"sampleTime,omitempty"`
}

// ObjectiveStatus is whether the objective is met, as a simulated autoscaler measures it on the observed demand.
type ObjectiveStatus struct {
	// Asked is the objective in a few words, for example "1% late over 7 days, wait 30s", "1% in bad hours over 14 days, wait 30s" or
	// "late demand costs 20×".
	// +optional
	Asked string `json:"asked,omitempty"`
	// Headline says in a sentence what Forewarm gains or loses over the budget's period compared with the HPA before, at equal reliability.
	// +optional
	Headline string `json:"headline,omitempty"`
	// Verdict in a word: Met, Learning, Bounded, Overspent, AtMaxReplicas or FasterThanLead.
	// +optional
	Verdict string `json:"verdict,omitempty"`
	// BadHours is in how many hours of the period more than a tenth of the demand was late, and which were the worst: "2 of 336 hours
	// were bad, with 0.9% of the demand: Mon 16 Nov 07:00 to 08:00 UTC (43% late)". Hours in which Forewarm did not serve are replayed.
	// +optional
	BadHours string `json:"badHours,omitempty"`
	// Late is the share of the demand over the budget's period that was late, in percent.
	// +optional
	Late string `json:"late,omitempty"`
	// Measured is the share of the requests over the budget's period that were late by objective.measured, in percent.
	// +optional
	Measured string `json:"measured,omitempty"`
	// BudgetSpent is the spent share of the lateness budget, in percent: at most 100% while the objective is met.
	// +optional
	BudgetSpent string `json:"budgetSpent,omitempty"`
	// BurnRate is the lateness of the last hour, as a multiple of the objective: at 1, the budget is spent at the end of the
	// period.
	// +optional
	BurnRate string `json:"burnRate,omitempty"`
	// RelativeCost is the replica-hours over the budget's period over those of the demand at full capacity: 1 is the least
	// possible.
	// +optional
	RelativeCost string `json:"relativeCost,omitempty"`
	// Headroom is the headroom multiplier: what is served above the median of the window peak, as a multiple of its spread.
	// +optional
	Headroom string `json:"headroom,omitempty"`
	// Candidate whose forecast of the window peak is served.
	// +optional
	Candidate string `json:"candidate,omitempty"`
	// CandidateReason is why that candidate is selected.
	// +optional
	CandidateReason string `json:"candidateReason,omitempty"`
}

// ServedRecord is what Forewarm remembers of the hours in which it served, which the history of the demand does not hold: how much of the
// demand was late with the served values, and the replica-hours that they took. One replica writes it, and all replicas read it. Without it
// Forewarm replays the history instead, and says so. It takes 8 bytes an hour: 3 KiB for two weeks.
type ServedRecord struct {
	// Through is the end of the newest hour.
	Through metav1.Time `json:"through"`
	// Wait is the time beyond which demand counted as late. Hours with another wait are not used.
	// +kubebuilder:validation:MaxLength=64
	Wait string `json:"wait"`
	// Capacity is what a replica sustained, in the unit of the demand. Hours with another capacity are not used.
	// +kubebuilder:validation:MaxLength=64
	Capacity string `json:"capacity"`
	// Hours are six bytes for each hour, oldest first, in base64: demand and replica-hours as half-precision floats, then flags (served,
	// judged, at maxReplicas) and the late share of the demand in 13 bits.
	// +kubebuilder:validation:MaxLength=131072
	Hours string `json:"hours"`
}

// ScaledToZero is what forewarm remembers of the times at which a workload stood at zero replicas. One replica writes them, all
// read them. They take 22 bytes each, 16 KiB at most.
type ScaledToZero struct {
	// Workload is the target, for example Deployment.apps/llama. The times of another are not used.
	// +kubebuilder:validation:MaxLength=1024
	Workload string `json:"workload"`
	// Changes are the times at which the workload came to zero replicas (the first, the third, and so on) and left it again
	// (the second, the fourth, and so on), in seconds since 1970, the oldest first. The last may be in the future: until then it
	// counts as standing at zero, unless it is observed again.
	// +kubebuilder:validation:MaxItems=1400
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=253402300799
	// +listType=atomic
	// +optional
	Changes []int64 `json:"changes,omitempty"`
}

// Starts are what forewarm remembers of the starts of a workload's pods, which the history of the demand does not hold: how
// long they took, in histograms that forget exponentially, and the lead times that follow. One replica writes them, all read
// them. Without them forewarm begins to measure anew. They take 1 to 2 KiB, 13 KiB at most.
type Starts struct {
	// Workload is the target whose starts were measured, for example Deployment.apps/llama. Starts of another are not used.
	// +kubebuilder:validation:MaxLength=1024
	Workload string `json:"workload"`

	// LeadTime follows from all starts without a warm pool: from Placed and Waited together.
	// +optional
	LeadTime MeasuredLeadTime `json:"leadTime,omitzero"`
	// PlacedLeadTime is that of starts on existing nodes: it is used while a warm pool stands ready.
	// +optional
	PlacedLeadTime MeasuredLeadTime `json:"placedLeadTime,omitzero"`
	// WaitedLeadTime is that of starts that waited for a node: warm pools are sized by it.
	// +optional
	WaitedLeadTime MeasuredLeadTime `json:"waitedLeadTime,omitzero"`

	// CountedThrough is when the newest start that is counted became ready. No start up to then counts again.
	// +optional
	CountedThrough metav1.Time `json:"countedThrough,omitzero"`
	// ReferenceTimestamp is what the weights of the histograms refer to: a start that was ready then weighs 1024, and twice
	// that 48 hours later. It moves on by 48 hours at a time, at which all weights are halved.
	// +optional
	ReferenceTimestamp metav1.Time `json:"referenceTimestamp,omitzero"`

	// Placed are the starts on existing nodes, without a warm pool.
	// +optional
	Placed StartHistogram `json:"placed,omitzero"`
	// Held are the starts on existing nodes that a warm pool held.
	// +optional
	Held StartHistogram `json:"held,omitzero"`
	// Waited are the starts that waited for a node.
	// +optional
	Waited StartHistogram `json:"waited,omitzero"`
}

// MeasuredLeadTime is a lead time that was measured. It changes for all replicas at the same time, which is announced a
// minute before.
type MeasuredLeadTime struct {
	// Seconds is the lead time from Since on.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	Seconds int64 `json:"seconds,omitempty"`
	// BeforeSeconds is the lead time until Since; absent where there was none.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	BeforeSeconds int64 `json:"beforeSeconds,omitempty"`
	// MedianSeconds is the median of the starts from Since on.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	MedianSeconds int64 `json:"medianSeconds,omitempty"`
	// BeforeMedianSeconds is the median until Since; absent where there was none.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	BeforeMedianSeconds int64 `json:"beforeMedianSeconds,omitempty"`
	// Since is when the lead time changed, or will.
	// +optional
	Since metav1.Time `json:"since,omitzero"`
}

// StartHistogram says how long starts of a kind took.
type StartHistogram struct {
	// Count is how many there ever were.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=281474976710656
	// +optional
	Count int64 `json:"count,omitempty"`
	// BucketWeights are the weights of the starts by how long they took. Bucket n counts what took more than 1.05 to the
	// power of n-1 seconds, and at most 1.05 to the power of n: bucket 0 all up to a second, bucket 183 all above 1h55m.
	// Empty buckets are left out.
	// +kubebuilder:validation:MaxProperties=184
	// +mapType=atomic
	// +optional
	BucketWeights map[string]BucketWeight `json:"bucketWeights,omitempty"`
}

// BucketWeight is the weight of the starts in a bucket: the older a start, the less it weighs.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=281474976710656
type BucketWeight int64
