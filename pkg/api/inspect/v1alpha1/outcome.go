package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Outcome is whether an objective is met. Simulated autoscalers, with pods and a queue of their own, measure it on the
// observed demand: once with the value that forewarm serves, once with the observed demand as the value. Costs are in
// replica-hours; multiply by the GPUs of a replica for GPU-hours.
type Outcome struct {
	// Late is the objective: the share of the demand that may wait longer than Wait. Absent where a CostRatio rules.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// CostRatio is how many idle replica-hours cost as much as a replica-hour of demand that waits longer than Wait. Absent
	// where an objective rules.
	// +optional
	CostRatio *float64 `json:"costRatio,omitempty"`
	// Wait is the time beyond which demand counts as late.
	Wait metav1.Duration `json:"wait"`
	// Verdict in one word: Met (at a cost ratio: the cheapest margin is served); Learning (too little was seen to say); Bounded (history does not justify the value that it
	// takes now); AtMaxReplicas (the autoscaler may not scale as far as it would take); FasterThanLead (bursts come faster than replicas start).
	Verdict string `json:"verdict"`
	// Words say in a sentence, with its numbers, whether the objective is met, and why and by how much where it is not.
	Words string `json:"words"`
	// Summary compares in words the outcome of the served value with that of the observed demand.
	Summary string `json:"summary"`

	// Candidate whose forecast of the window peak is served.
	// +optional
	Candidate string `json:"candidate,omitempty"`
	// Why says in a sentence why that candidate is selected.
	// +optional
	Why string `json:"why,omitempty"`
	// K is the headroom multiplier that is served, in multiples of the candidate's spread above its median. Absent until known.
	// +optional
	K *float64 `json:"k,omitempty"`
	// Expected is the share of the demand that is expected to be late with that margin. Absent until known.
	// +optional
	Expected *float64 `json:"expected,omitempty"`
	// WhyK says in a sentence what the margins next to that one would do.
	// +optional
	WhyK string `json:"whyK,omitempty"`

	// Over is the time that the accounts are of, the newest week at most.
	Over metav1.Duration `json:"over"`
	// Served is what the first of the autoscalers makes of the demand by the value that forewarm serves, or would serve
	// where it only watches (serve: Shadow).
	Served Account `json:"served"`
	// Observed is what it makes of the demand by the observed value.
	Observed Account `json:"observed"`
	// Saved is what Served takes less than Observed; below 0 where it takes more.
	Saved Saving `json:"saved"`

	// Scalings are the autoscalers that read the value, each with the margin that it needs; the largest is served.
	// +optional
	// +listType=atomic
	Scalings []Scaling `json:"scalings,omitempty"`
	// Candidates are all that were tried, with what it would cost to meet the objective with them.
	// +optional
	// +listType=atomic
	Candidates []CandidateCost `json:"candidates,omitempty"`
}

// Account is what became of a demand and what was paid for it.
type Account struct {
	// Late is the share of the demand that waited longer than the objective's wait. Absent where no demand came.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// ReplicaHours that were paid for. Absent where nothing was played yet.
	// +optional
	ReplicaHours *float64 `json:"replicaHours,omitempty"`
	// Cost is the replica-hours over those of the demand at full capacity: 1 is perfection, 2 is half idle. Absent where no
	// demand came.
	// +optional
	Cost *float64 `json:"cost,omitempty"`
}

// Saving is what one account has less than another.
type Saving struct {
	// ReplicaHours that are saved.
	// +optional
	ReplicaHours *float64 `json:"replicaHours,omitempty"`
	// Late is the share of the demand that is spared from being late.
	// +optional
	Late *float64 `json:"late,omitempty"`
}

// Scaling is an autoscaler that reads the value, and the margin that it needs.
type Scaling struct {
	// By names the autoscaler, for example HorizontalPodAutoscaler/llama; spec.scaling where none reads the value.
	By string `json:"by"`
	// Target is what one replica sustains, in the demand's unit.
	// +optional
	Target *float64 `json:"target,omitempty"`
	// MinReplicas and MaxReplicas bound the replicas.
	MinReplicas int32 `json:"minReplicas"`
	MaxReplicas int32 `json:"maxReplicas"`
	// K is the multiple of the spread that it needs. Absent until known.
	// +optional
	K *float64 `json:"k,omitempty"`
	// Expected is the share of the demand that is expected to be late with it. Absent until known.
	// +optional
	Expected *float64 `json:"expected,omitempty"`
	// Curve is what is expected under each margin; K is read from it.
	// +optional
	// +listType=atomic
	Curve []MarginPoint `json:"curve,omitempty"`
}

// MarginPoint is what is expected under a margin.
type MarginPoint struct {
	// K is the multiple of the spread.
	K float64 `json:"k"`
	// Late is the share of the demand that is expected to be late. Absent until known.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// Cost is the replica-hours over those of the demand at full capacity. Absent until known.
	// +optional
	Cost *float64 `json:"cost,omitempty"`
}

// CandidateCost is a candidate and what it would cost to meet the objective with it.
type CandidateCost struct {
	// Name is regression, last-value, last-season or a model's.
	Name string `json:"name"`
	// Serves says that this candidate is served.
	// +optional
	Serves bool `json:"serves,omitempty"`
	// Meets says that the objective is met with it.
	// +optional
	Meets bool `json:"meets,omitempty"`
	// K is the multiple of the spread that it would take. Absent until known.
	// +optional
	K *float64 `json:"k,omitempty"`
	// Late is the share of the demand that is expected to be late with it. Absent until known.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// Cost is the replica-hours that it would take, over those of the demand. Absent until known.
	// +optional
	Cost *float64 `json:"cost,omitempty"`
}
