package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ForecastStatus is what forewarm last said about the Forecast. It outlives an outage of forewarm; the whole forecast is
// `kubectl get outlooks`. Quantities are rounded, for people; the metric has all digits.
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

	// Model that serves.
	// +optional
	Model string `json:"model,omitempty"`

	// ModelReason says why that model serves.
	// +optional
	ModelReason string `json:"modelReason,omitempty"`

	// LeadTime in use.
	// +optional
	LeadTime string `json:"leadTime,omitempty"`

	// LeadTimeSource says where the lead time comes from.
	// +optional
	LeadTimeSource string `json:"leadTimeSource,omitempty"`

	// Starts are the measured starts of the workload's pods, from which the lead time follows.
	// +optional
	Starts *Starts `json:"starts,omitempty"`

	// AtZero is when the workload stood at zero replicas: its signal's absence at such a time is demand 0, not a gap.
	// +optional
	AtZero *AtZero `json:"atZero,omitempty"`

	// Window is the lead window that the served value looks over.
	// +optional
	Window string `json:"window,omitempty"`

	// Skill is how much less the model loses than the last value would, in percent.
	// +optional
	Skill string `json:"skill,omitempty"`

	// Coverage is the share of past windows that stayed within the served value's quantile, in percent.
	// +optional
	Coverage string `json:"coverage,omitempty"`

	// Objective is how the objective fares; absent where none is served by outcome. The condition ObjectiveMet says it in
	// words.
	// +optional
	Objective *ObjectiveStatus `json:"objective,omitempty"`

	// SampleTime is the time of the newest sample when the status was written.
	// +optional
	SampleTime *metav1.Time `json:"sampleTime,omitempty"`
}

// ObjectiveStatus is how an objective fares, by what a shadow of the workload's autoscaler made of the demand that came.
type ObjectiveStatus struct {
	// Asked is the objective in words, for example "1% later than 30s" or "late costs 20× an idle
	// replica".
	// +optional
	Asked string `json:"asked,omitempty"`
	// Verdict in a word: Met, Learning, Bounded, AtMaxReplicas or FasterThanLead.
	// +optional
	Verdict string `json:"verdict,omitempty"`
	// Late is the share of the demand of the last week that was late, in percent.
	// +optional
	Late string `json:"late,omitempty"`
	// Cost is the replica-hours of the last week over those of the demand at full capacity: 1 is perfection.
	// +optional
	Cost string `json:"cost,omitempty"`
	// K is the margin served: the multiple of the shape's spread above its median.
	// +optional
	K string `json:"k,omitempty"`
	// Shape names the candidate whose shape of the demand's maximum is served.
	// +optional
	Shape string `json:"shape,omitempty"`
	// Why says why that shape is.
	// +optional
	Why string `json:"why,omitempty"`
}

// AtZero is what forewarm remembers of the times at which a workload stood at zero replicas. One replica writes them, all
// read them.
type AtZero struct {
	// Of is the workload, for example Deployment.apps/llama. The times of another are not used.
	// +kubebuilder:validation:MaxLength=1024
	Of string `json:"of"`
	// Record is when the workload stood at zero, in a form of forewarm's own.
	// +kubebuilder:validation:MaxLength=16384
	Record string `json:"record"`
}

// Starts are what forewarm remembers of the starts of a workload's pods, which the history of the demand does not hold. One replica writes them, all read them. Without them forewarm begins to measure anew.
type Starts struct {
	// Of is the workload that was measured, for example Deployment.apps/llama. Starts of another are not used.
	// +kubebuilder:validation:MaxLength=1024
	Of string `json:"of"`
	// Record counts the starts by how long they took, in a form of forewarm's own, and holds the lead time that follows.
	// +kubebuilder:validation:MaxLength=16384
	Record string `json:"record"`
}
