package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ForecastEvent is a time at which the demand is known to be unusual, and what is known of it. What is known is combined with what is
// forecast; the served value is never below the observed demand.
type ForecastEvent struct {
	// Name of the event; those that recur are compared by it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	EventSpec `json:",inline"`
}

// EventSpec is when the demand is unusual, and what is known of it.
//
// +kubebuilder:validation:XValidation:rule="[has(self.atLeast), has(self.times), has(self.like), has(self.ignore)].filter(given, given).size() == 1",message="write one of atLeast, times, like and ignore"
// +kubebuilder:validation:XValidation:rule="has(self.start) != has(self.holidays)",message="write start or holidays"
// +kubebuilder:validation:XValidation:rule="!has(self.recurrence) || has(self.start)",message="a recurrence begins with start"
type EventSpec struct {
	// Start is the first time, by the clock of the time zone: a date, 2026-12-24, or a date and a time, 2026-12-24T18:00.
	// +optional
	Start EventTime `json:"start,omitempty"`
	// Holidays are the public holidays of a country or a region of it, instead of start: US, DE-BY (ISO 3166).
	// +kubebuilder:validation:MaxLength=6
	// +kubebuilder:validation:Pattern=`^[A-Z]{2}(-[A-Z]{2,3})?$`
	// +optional
	Holidays string `json:"holidays,omitempty"`
	// Duration of an occurrence, at most 60d. Whole days end at the time of the day at which they begin, whatever daylight saving does.
	// An occurrence ends when the next one begins.
	// +kubebuilder:default="1d"
	// +optional
	Duration Duration `json:"duration,omitempty"`
	// TimeZone is a name of the time zone database, for example Europe/Berlin. Default UTC.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
	// Recurrence is a rule as calendars have it (RFC 5545), for example FREQ=WEEKLY;BYDAY=MO,TH, at most once an hour. Default: once.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Recurrence string `json:"recurrence,omitempty"`
	// AlsoOn are further starts.
	// +kubebuilder:validation:MaxItems=128
	// +listType=set
	// +optional
	AlsoOn []EventTime `json:"alsoOn,omitempty"`
	// ExceptOn are starts that do not take place; a date means those of that day.
	// +kubebuilder:validation:MaxItems=128
	// +listType=set
	// +optional
	ExceptOn []EventTime `json:"exceptOn,omitempty"`

	// AtLeast is the demand to expect at its height, in the signal's unit, in quotes: "400", "12k".
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]+|[0-9]*\.[0-9]+)[kMG]?$`
	// +optional
	AtLeast string `json:"atLeast,omitempty"`
	// Times is the demand as a multiple of what it would be without the event, from 0.001 to 1000, in quotes: "3", "0.5".
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]+|[0-9]*\.[0-9]+)$`
	// +optional
	Times string `json:"times,omitempty"`
	// Like is what the demand is like: Last (the last occurrence of this name within the history), or a day of the week.
	// +optional
	Like EventLike `json:"like,omitempty"`
	// Ignore: the demand is served as it comes, and nothing is learnt from it, as of a load test or an outage.
	// +kubebuilder:validation:Enum=true
	// +optional
	Ignore bool `json:"ignore,omitempty"`
}

// EventTime is a date, 2026-12-24, or a date and a time, 2026-12-24T18:00, by the clock of a time zone.
//
// +kubebuilder:validation:MaxLength=19
// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?)?$`
type EventTime string

// EventLike is what a demand is like.
//
// +kubebuilder:validation:Enum=Last;Monday;Tuesday;Wednesday;Thursday;Friday;Saturday;Sunday
type EventLike string

// EventLikeLast is the last occurrence of the same name.
const EventLikeLast EventLike = "Last"

// DemandEvent is a time at which the demand of a namespace's workloads is known to be unusual. Whoever may write it needs no right on
// Forecasts. An event of the same name in a Forecast replaces it there.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=de,categories=forewarm
// +kubebuilder:metadata:labels=app.kubernetes.io/part-of=forewarm
// +kubebuilder:metadata:annotations=helm.sh/resource-policy=keep
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.next`
// +kubebuilder:printcolumn:name="Forecasts",type=integer,JSONPath=`.status.forecasts`
// +kubebuilder:printcolumn:name="Applied",type=string,JSONPath=`.status.conditions[?(@.type=="Applied")].reason`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Applied")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type DemandEvent struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec DemandEventSpec `json:"spec"`
	// +optional
	Status DemandEventStatus `json:"status,omitzero"`
}

// DemandEventSpec is when the demand is unusual, what is known of it, and whose demand it is.
type DemandEventSpec struct {
	EventSpec `json:",inline"`

	// Forecasts of the namespace, whose demand it is. Default: all of them.
	// +kubebuilder:validation:MaxItems=128
	// +listType=set
	// +optional
	Forecasts []string `json:"forecasts,omitempty"`
}

// DemandEventStatus is what became of an event.
type DemandEventStatus struct {
	// ObservedGeneration is the generation of the spec that this status is of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Next is when it begins next, within the next two weeks.
	// +optional
	Next *metav1.Time `json:"next,omitempty"`
	// Forecasts is how many have it.
	// +optional
	Forecasts int32 `json:"forecasts"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// DemandEventList is a list of DemandEvents.
//
// +kubebuilder:object:root=true
type DemandEventList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []DemandEvent `json:"items"`
}
