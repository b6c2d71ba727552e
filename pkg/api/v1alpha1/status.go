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

	// Window is the lead window that the served value looks over.
	// +optional
	Window string `json:"window,omitempty"`

	// Skill is how much less the model loses than the last value would, in percent.
	// +optional
	Skill string `json:"skill,omitempty"`

	// Coverage is the share of past windows that stayed within the served value's quantile, in percent.
	// +optional
	Coverage string `json:"coverage,omitempty"`

	// SampleTime is the time of the newest sample when the status was written.
	// +optional
	SampleTime *metav1.Time `json:"sampleTime,omitempty"`
}
