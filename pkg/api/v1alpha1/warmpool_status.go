package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WarmPoolStatus is the state of the pool when Forewarm last wrote it. Quantities are rounded to make them easier to
// read.
type WarmPoolStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// State is the state of the pool in one word: Recommending, Ready, Filling, FallingBack, OverBudget, Invalid, or
	// Releasing while the pool is being deleted.
	// +optional
	State string `json:"state,omitempty"`

	// Conditions says what works and what does not, with the reason and what to do. Ready is True while the pool
	// holds as many chunks as it needs.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Wanted is how many chunks the forecasts require, within the limits of the pool.
	// +optional
	Wanted int32 `json:"wanted"`
	// Held is how many chunks Forewarm has requested through the actuator. 0 in mode Recommend.
	// +optional
	Held int32 `json:"held"`
	// Ready is how many of the requested chunks are present on nodes.
	// +optional
	Ready int32 `json:"ready"`
	// Borrowed is how many chunks the members' pods have taken and Forewarm has not replaced yet.
	// +optional
	Borrowed int32 `json:"borrowed"`

	// ByCapacityType divides the held chunks by capacity type. Present only if the pool has several types.
	// +listType=map
	// +listMapKey=name
	// +optional
	ByCapacityType []CapacityTypeStatus `json:"byCapacityType,omitempty"`

	// IdleToday is how long the pool's chunks have been idle today (UTC), in GPU-hours, for example "1.5 GPUh".
	// +optional
	IdleToday string `json:"idleToday,omitempty"`
	// BudgetLeft is how many idle GPU-hours the budget still allows today. Empty if the pool has no budget.
	// +optional
	BudgetLeft string `json:"budgetLeft,omitempty"`

	// LeadTime is how long a pod takes to become ready on a node that the pool holds.
	// +optional
	LeadTime string `json:"leadTime,omitempty"`
	// NodeLeadTime is how long a new node takes to start.
	// +optional
	NodeLeadTime string `json:"nodeLeadTime,omitempty"`
	// LeadTimeSource says where leadTime and nodeLeadTime come from, for example from how many measured starts.
	// +optional
	LeadTimeSource string `json:"leadTimeSource,omitempty"`

	// Message explains the number in wanted.
	// +optional
	Message string `json:"message,omitempty"`
	// Next says when the number of chunks will change next, as far as the forecasts show, and why.
	// +optional
	Next string `json:"next,omitempty"`

	// Covered lists the members that rely on the pool. Their Forecasts look ahead only for the time that a pod takes
	// to start on an existing node.
	// +listType=map
	// +listMapKey=forecast
	// +optional
	Covered []Cover `json:"covered,omitempty"`

	// ScaleBefore records how many replicas the target of the scale actuator had before the pool changed them.
	// Forewarm restores this number when the pool ends.
	// +optional
	ScaleBefore *ScaleBefore `json:"scaleBefore,omitempty"`

	// Memory contains what Forewarm needs from earlier plans to make the next plan.
	// +optional
	Memory *PoolMemory `json:"memory,omitempty"`
}

// PoolMemory contains what Forewarm needs from earlier plans of a pool. The leader writes it, and the next leader
// continues from it. Without it, the pool keeps its chunks for as long as a new node takes to start. PoolMemory takes
// at most 3 KiB.
type PoolMemory struct {
	// PlannedAt is when the last plan was made.
	PlannedAt metav1.MicroTime `json:"plannedAt"`
	// Ready is how many chunks were ready at that time.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Ready int64 `json:"ready,omitempty"`
	// PlacedMilliChunks is how much capacity the members' replicas occupied on nodes, in thousandths of a chunk.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	PlacedMilliChunks int64 `json:"placedMilliChunks,omitempty"`
	// Claimed is how many whole chunks the members' replicas occupied or waited for.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Claimed int64 `json:"claimed,omitempty"`

	// IdleChunkMilliseconds is how long chunks were idle on the UTC day of the last plan, summed over all chunks.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1125899906842624
	// +optional
	IdleChunkMilliseconds int64 `json:"idleChunkMilliseconds,omitempty"`
	// UnseenMilliseconds is how much of that day no leader observed, for example between two leaders. This time does
	// not count as idle.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1125899906842624
	// +optional
	UnseenMilliseconds int64 `json:"unseenMilliseconds,omitempty"`

	// LostMilliChunks is how much ready capacity was lost since matchedSince, in thousandths of a chunk. If members
	// gained the same amount at the same time, they borrowed this capacity.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	LostMilliChunks int64 `json:"lostMilliChunks,omitempty"`
	// GainedMilliChunks is how much more capacity the members' replicas have occupied since matchedSince, in
	// thousandths of a chunk.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	GainedMilliChunks int64 `json:"gainedMilliChunks,omitempty"`
	// MatchedSince is the start of the period over which lost and gained chunks are compared.
	// +optional
	MatchedSince metav1.MicroTime `json:"matchedSince,omitzero"`
	// BorrowedMilliChunks is how much capacity the members' replicas have borrowed, in thousandths of a chunk.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	BorrowedMilliChunks int64 `json:"borrowedMilliChunks,omitempty"`

	// Covers is true while the members rely on the pool.
	// +optional
	Covers bool `json:"covers,omitempty"`
	// TurningSince is the time since which covers should have the opposite value. Empty while covers has the right
	// value.
	// +optional
	TurningSince metav1.MicroTime `json:"turningSince,omitzero"`
	// Unreliable is true if the forecast of a member was stale or poor.
	// +optional
	Unreliable bool `json:"unreliable,omitempty"`

	// Wants lists how many chunks were wanted in the recent past, oldest first. It covers the time for which a chunk
	// is kept.
	// +kubebuilder:validation:MaxItems=33
	// +listType=atomic
	// +optional
	Wants []WantedChunks `json:"wants,omitempty"`
}

// WantedChunks is how many chunks were wanted at a time.
type WantedChunks struct {
	// At is the time.
	At metav1.MicroTime `json:"at"`
	// Total is the number of wanted chunks of all capacity types.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Total int64 `json:"total,omitempty"`
	// Base is the number of wanted chunks of the first capacity type.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Base int64 `json:"base,omitempty"`
}

// CapacityTypeStatus says how many chunks of one capacity type the pool holds.
type CapacityTypeStatus struct {
	// Name is the name of the capacity type.
	Name string `json:"name"`
	// Held is how many chunks of this type Forewarm has requested.
	// +optional
	Held int32 `json:"held"`
	// Ready is how many of them are present on nodes.
	// +optional
	Ready int32 `json:"ready"`
}

// ScaleBefore records how many replicas an object had before a pool changed them.
type ScaleBefore struct {
	// TargetRef is the object.
	TargetRef TargetRef `json:"targetRef"`
	// Replicas is how many replicas the object had.
	// +optional
	Replicas int32 `json:"replicas"`
}

// Cover is a member that relies on a pool.
type Cover struct {
	// Forecast is the name of the Forecast, in the namespace of the pool.
	Forecast string `json:"forecast"`
	// Since is when the Forecast begins to rely on the pool. It can be slightly in the future, so that all replicas
	// of Forewarm switch at the same moment.
	Since metav1.Time `json:"since"`
}
