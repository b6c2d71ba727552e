package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WarmPoolStatus is the state of the pool as forewarm last saw it. Quantities are rounded, for people.
type WarmPoolStatus struct {
	// ObservedGeneration is the generation of the spec that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// State in a word: Recommending, Ready, Filling, FallingBack, OverBudget, Invalid, or Releasing on its way out.
	// +optional
	State string `json:"state,omitempty"`

	// Conditions with reasons and advice. Ready is true while the pool holds what it wants.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Wanted is how many chunks the forecasts ask for, within the bounds.
	// +optional
	Wanted int32 `json:"wanted"`
	// Held is how many the actuator was asked for; 0 in mode Recommend.
	// +optional
	Held int32 `json:"held"`
	// Ready is how many of them are there.
	// +optional
	Ready int32 `json:"ready"`
	// Borrowed is how many of them members' pods have taken, and are not there again yet.
	// +optional
	Borrowed int32 `json:"borrowed"`

	// ByCapacityType are the chunks held of each capacity type, where there are several.
	// +listType=map
	// +listMapKey=name
	// +optional
	ByCapacityType []CapacityTypeStatus `json:"byCapacityType,omitempty"`

	// IdleToday is how long the pool's chunks have stood idle today (UTC), in GPU-hours: "1.5 GPUh".
	// +optional
	IdleToday string `json:"idleToday,omitempty"`
	// BudgetLeft is how long they still may; absent without a budget.
	// +optional
	BudgetLeft string `json:"budgetLeft,omitempty"`

	// LeadTime of a pod on a node that is held, and NodeLeadTime of a new node.
	// +optional
	LeadTime string `json:"leadTime,omitempty"`
	// +optional
	NodeLeadTime string `json:"nodeLeadTime,omitempty"`
	// LeadTimeSource says where they come from.
	// +optional
	LeadTimeSource string `json:"leadTimeSource,omitempty"`

	// Message is why Wanted is what it is, with the numbers.
	// +optional
	Message string `json:"message,omitempty"`
	// Next is when the pool changes next, as far as is known, and why.
	// +optional
	Next string `json:"next,omitempty"`

	// Covered are the members that the pool stands ready for: their Forecasts look ahead no further than a pod takes on a
	// node that is there.
	// +listType=map
	// +listMapKey=forecast
	// +optional
	Covered []Cover `json:"covered,omitempty"`

	// ScaleBefore is what the actuator scale found, and gives back.
	// +optional
	ScaleBefore *ScaleBefore `json:"scaleBefore,omitempty"`

	// Memory is what the planner remembers of the plans before.
	// +optional
	Memory *PoolMemory `json:"memory,omitempty"`
}

// PoolMemory is what the planner remembers of a pool's plans. One replica writes it; whoever leads next goes on from it.
// Without it what is held is kept for as long as a node takes to come. It takes 3 KiB at most.
type PoolMemory struct {
	// PlannedAt is when the last plan was made.
	PlannedAt metav1.MicroTime `json:"plannedAt"`
	// Ready is how many chunks were ready then.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Ready int64 `json:"ready,omitempty"`
	// PlacedMilliChunks are the thousandths of chunks that members' replicas had a place on.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	PlacedMilliChunks int64 `json:"placedMilliChunks,omitempty"`
	// Claimed are the whole chunks that members' replicas had a place on or waited for.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Claimed int64 `json:"claimed,omitempty"`

	// IdleChunkMilliseconds is how long chunks stood idle on the day of the last plan (UTC): the sum over all chunks.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1125899906842624
	// +optional
	IdleChunkMilliseconds int64 `json:"idleChunkMilliseconds,omitempty"`
	// UnseenMilliseconds is how much of that day nobody saw, for example between two leaders. It counts as not idle.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1125899906842624
	// +optional
	UnseenMilliseconds int64 `json:"unseenMilliseconds,omitempty"`

	// LostMilliChunks are the thousandths of chunks that ceased to be ready since MatchedSince. What was both lost and gained
	// was borrowed.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	LostMilliChunks int64 `json:"lostMilliChunks,omitempty"`
	// GainedMilliChunks are the thousandths of chunks that members' replicas took since MatchedSince.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	GainedMilliChunks int64 `json:"gainedMilliChunks,omitempty"`
	// MatchedSince is since when lost and gained chunks are compared.
	// +optional
	MatchedSince metav1.MicroTime `json:"matchedSince,omitzero"`
	// BorrowedMilliChunks are the thousandths of chunks that members' replicas have borrowed.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	BorrowedMilliChunks int64 `json:"borrowedMilliChunks,omitempty"`

	// Covers says whether the pool covers its members.
	// +optional
	Covers bool `json:"covers,omitempty"`
	// TurningSince is since when the opposite of Covers would be right; absent while it is not.
	// +optional
	TurningSince metav1.MicroTime `json:"turningSince,omitzero"`
	// Unreliable says whether a member's forecast was stale or poor.
	// +optional
	Unreliable bool `json:"unreliable,omitempty"`

	// Wants are the chunks that were wanted in the time for which a chunk is kept, the oldest first.
	// +kubebuilder:validation:MaxItems=33
	// +listType=atomic
	// +optional
	Wants []WantedChunks `json:"wants,omitempty"`
}

// WantedChunks is how many chunks were wanted at a time.
type WantedChunks struct {
	// At is the time.
	At metav1.MicroTime `json:"at"`
	// Total is how many were wanted in all.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Total int64 `json:"total,omitempty"`
	// Base is how many of the first capacity type.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Base int64 `json:"base,omitempty"`
}

// CapacityTypeStatus is what is held of a capacity type.
type CapacityTypeStatus struct {
	Name string `json:"name"`
	// +optional
	Held int32 `json:"held"`
	// +optional
	Ready int32 `json:"ready"`
}

// ScaleBefore is how many replicas something had before a pool set them.
type ScaleBefore struct {
	TargetRef TargetRef `json:"targetRef"`
	// +optional
	Replicas int32 `json:"replicas"`
}

// Cover is a member that a pool stands ready for.
type Cover struct {
	// Forecast is its name, in the pool's namespace.
	Forecast string `json:"forecast"`
	// Since is from when on; it may lie a little ahead, for all replicas to change over at once.
	Since metav1.Time `json:"since"`
}
