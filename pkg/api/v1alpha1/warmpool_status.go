package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WarmPoolStatus is the state of the pool at the time when Forewarm last wrote this status. Numbers are rounded for
// readability.
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
	// Held is how many chunks Forewarm has requested through the actuator. It is 0 in mode Recommend.
	// +optional
	Held int32 `json:"held"`
	// Ready is how many of the requested chunks are present on nodes.
	// +optional
	Ready int32 `json:"ready"`
	// Borrowed is how many chunks the pods of members have taken from the pool, as long as they are not replaced yet.
	// +optional
	Borrowed int32 `json:"borrowed"`

	// ByCapacityType lists the held chunks by capacity type. Present only if the pool has several types.
	// +listType=map
	// +listMapKey=name
	// +optional
	ByCapacityType []CapacityTypeStatus `json:"byCapacityType,omitempty"`

	// IdleToday is how many GPU-hours the chunks of the pool have been idle today (UTC), for example "1.5 GPUh".
	// +optional
	IdleToday string `json:"idleToday,omitempty"`
	// BudgetLeft is how many idle GPU-hours the budget still allows today. Empty if the pool has no budget.
	// +optional
	BudgetLeft string `json:"budgetLeft,omitempty"`

	// LeadTime is how long a pod takes to become ready on a node that the pool holds.
	// +optional
	LeadTime string `json:"leadTime,omitempty"`
	// NodeLeadTime is how long a new node takes, from the request until pods start on it.
	// +optional
	NodeLeadTime string `json:"nodeLeadTime,omitempty"`
	// LeadTimeSource says where leadTime and nodeLeadTime come from, and if they are measured, from how many starts.
	// +optional
	LeadTimeSource string `json:"leadTimeSource,omitempty"`

	// Message explains why wanted has its current value.
	// +optional
	Message string `json:"message,omitempty"`
	// Next says when the number of chunks will change next according to the forecasts, and why.
	// +optional
	Next string `json:"next,omitempty"`

	// Covered lists the members that rely on the pool. While a Forecast relies on the pool, its lead time is only the
	// time that a pod takes to start on an existing node.
	// +listType=map
	// +listMapKey=forecast
	// +optional
	Covered []Cover `json:"covered,omitempty"`

	// ScaleBefore records how many replicas the target of the scale actuator had before the pool scaled it. Forewarm
	// restores this number when the pool is deleted.
	// +optional
	ScaleBefore *ScaleBefore `json:"scaleBefore,omitempty"`

	// Memory contains the results of earlier plans that Forewarm needs for the next plan.
	// +optional
	Memory *PoolMemory `json:"memory,omitempty"`
}

// PoolMemory contains the results of earlier plans that Forewarm needs for the next plan of a pool. The leader of the
// Forewarm replicas writes it, and the next leader continues from it. Without it, the pool first keeps what it holds
// for as long as a new node takes. PoolMemory takes at most 3 KiB.
type PoolMemory struct {
	// PlannedAt is when the last plan was made.
	PlannedAt metav1.MicroTime `json:"plannedAt"`
	// Ready is how many chunks were ready at that time.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Ready int64 `json:"ready,omitempty"`
	// PlacedMilliChunks is how much capacity the replicas of members occupied on nodes at that time, in thousandths of
	// a chunk.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	PlacedMilliChunks int64 `json:"placedMilliChunks,omitempty"`
	// Claimed is how many whole chunks the replicas of members occupied or waited for at that time.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Claimed int64 `json:"claimed,omitempty"`

	// IdleChunkMilliseconds is how long chunks were idle on the UTC day of the last plan, in milliseconds, added up
	// over all chunks.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1125899906842624
	// +optional
	IdleChunkMilliseconds int64 `json:"idleChunkMilliseconds,omitempty"`
	// UnseenMilliseconds is the part of that day, in milliseconds, in which no leader observed the pool, for example
	// between two leaders. This time does not count as idle.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1125899906842624
	// +optional
	UnseenMilliseconds int64 `json:"unseenMilliseconds,omitempty"`

	// LostMilliChunks is how much ready capacity the pool has lost since matchedSince, in thousandths of a chunk. If
	// members gained the same amount at the same time, Forewarm concludes that they borrowed it.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	LostMilliChunks int64 `json:"lostMilliChunks,omitempty"`
	// GainedMilliChunks is how much additional capacity the replicas of members have occupied since matchedSince, in
	// thousandths of a chunk.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	GainedMilliChunks int64 `json:"gainedMilliChunks,omitempty"`
	// MatchedSince is the start of the period over which lost and gained chunks are compared.
	// +optional
	MatchedSince metav1.MicroTime `json:"matchedSince,omitzero"`
	// BorrowedMilliChunks is how much capacity the replicas of members have borrowed, in thousandths of a chunk.
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

	// Wants lists how many chunks the pool recently needed, oldest first. It goes back as far as the time for which the
	// pool keeps a chunk that it no longer needs.
	// +kubebuilder:validation:MaxItems=33
	// +listType=atomic
	// +optional
	Wants []WantedChunks `json:"wants,omitempty"`
}

// WantedChunks is how many chunks the pool needed at one time.
type WantedChunks struct {
	// At is the time.
	At metav1.MicroTime `json:"at"`
	// Total is the number of chunks that the pool needed, of all capacity types.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Total int64 `json:"total,omitempty"`
	// Base is the number of chunks that the pool needed of the first capacity type.
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
	// Ready is how many of the requested chunks of this type are present on nodes.
	// +optional
	Ready int32 `json:"ready"`
}

// ScaleBefore records how many replicas an object had before a pool scaled it.
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
