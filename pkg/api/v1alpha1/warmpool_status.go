package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WarmPoolStatus is what forewarm last said about the pool. Quantities are rounded, for people.
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

	// Why says in a sentence with its numbers how Wanted came about.
	// +optional
	Why string `json:"why,omitempty"`
	// Next says when the pool changes next, as far as is known, and why.
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

	// Memory is what the planner remembers, in a form of forewarm's own. One replica writes it; whoever leads next goes on
	// from it.
	// +kubebuilder:validation:MaxLength=16384
	// +optional
	Memory string `json:"memory,omitempty"`
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
