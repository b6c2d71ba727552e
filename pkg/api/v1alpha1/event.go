package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ForecastEvent is a time at which you know that the demand will be unusual, and what you know about the demand.
// Forewarm combines it with the forecast. During the event, the served value is never below the observed demand.
type ForecastEvent struct {
	// Name identifies the event. Give an event that returns the same name each time: `like: Last` and the condition
	// EventsPlausible look up its earlier occurrences by the name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	EventSpec `json:",inline"`
}

// EventSpec says when the demand is unusual, and what you know about the demand.
//
// +kubebuilder:validation:XValidation:rule="[has(self.atLeast), has(self.replicas), has(self.times), has(self.like), has(self.ignore)].filter(given, given).size() == 1",message="write one of atLeast, replicas, times, like and ignore"
// +kubebuilder:validation:XValidation:rule="has(self.start) != has(self.holidays)",message="write start or holidays"
// +kubebuilder:validation:XValidation:rule="!has(self.recurrence) || has(self.start)",message="a recurrence begins with start"
type EventSpec struct {
	// Start is when the event first begins, in local time of timeZone. Write a date, such as 2026-12-24, or a date
	// and a time, such as 2026-12-24T18:00. Set either start or holidays.
	// +optional
	Start EventTime `json:"start,omitempty"`
	// Holidays repeats the event on every public holiday of a country or region. Write its ISO 3166 code, such as US or
	// DE-BY. Set either start or holidays.
	// +kubebuilder:validation:MaxLength=6
	// +kubebuilder:validation:Pattern=`^[A-Z]{2}(-[A-Z]{2,3})?$`
	// +optional
	Holidays string `json:"holidays,omitempty"`
	// Duration is how long each occurrence lasts. Maximum 60d, default 1d. If it is a whole number of days, each
	// occurrence ends at the time of day at which it began, even if daylight saving time begins or ends in between. An
	// occurrence always ends when the next one begins.
	// +kubebuilder:default="1d"
	// +optional
	Duration Duration `json:"duration,omitempty"`
	// TimeZone is the time zone of all dates and times of the event, as a name from the IANA time zone database, for
	// example Europe/Berlin. Default UTC.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
	// Recurrence repeats the event. Write an iCalendar recurrence rule (RFC 5545), for example FREQ=WEEKLY;BYDAY=MO,TH.
	// It must not start the event more than once an hour. Requires start. Default: the event does not repeat.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Recurrence string `json:"recurrence,omitempty"`
	// AlsoOn lists additional times at which the event begins. At most 128. Default: none.
	// +kubebuilder:validation:MaxItems=128
	// +listType=set
	// +optional
	AlsoOn []EventTime `json:"alsoOn,omitempty"`
	// ExceptOn lists occurrences to leave out. A date without a time excludes all occurrences on that day. At most 128.
	// Default: none.
	// +kubebuilder:validation:MaxItems=128
	// +listType=set
	// +optional
	ExceptOn []EventTime `json:"exceptOn,omitempty"`

	// AtLeast says that the demand will reach at least this value during the event, in the unit of the signal. Write
	// a number in quotes, such as "400" or "12k". Set exactly one of atLeast, replicas, times, like and
	// ignore.
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]+|[0-9]*\.[0-9]+)[kMG]?$`
	// +optional
	AtLeast string `json:"atLeast,omitempty"`
	// Replicas is a plain schedule: the autoscaler runs at least this many replicas during the event, whatever the demand
	// is. A whole number from 1 to 10000. Forewarm multiplies it by the smallest target of the autoscalers that read the
	// Forecast, or by spec.scaling.target. Set exactly one of atLeast, replicas, times, like and ignore.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// Times is the demand that you expect during the event, as a multiple of the demand without the event. Write a
	// number from 0.001 to 1000 in quotes, such as "3" for three times the demand or "0.5" for half of it. Set
	// exactly one of atLeast, replicas, times, like and ignore.
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]+|[0-9]*\.[0-9]+)$`
	// +optional
	Times string `json:"times,omitempty"`
	// Like says that the demand during the event will resemble an earlier demand. Write Last for the last occurrence of
	// this event within the history (if the history contains none, the event has no effect). Write a day of the week,
	// such as Sunday, for the usual course of that day. Set exactly one of atLeast, replicas, times, like and
	// ignore.
	// +optional
	Like EventLike `json:"like,omitempty"`
	// Ignore keeps Forewarm from learning from the demand during the event, for example during a load test or an
	// outage. Forewarm still serves its forecast and the observed demand. The only allowed value is true. Set exactly
	// one of atLeast, replicas, times, like and ignore.
	// +kubebuilder:validation:Enum=true
	// +optional
	Ignore bool `json:"ignore,omitempty"`
}

// EventTime is a date, such as 2026-12-24, or a date and a time, such as 2026-12-24T18:00, in the time zone of the
// event.
//
// +kubebuilder:validation:MaxLength=19
// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?)?$`
type EventTime string

// EventLike is an earlier time whose demand an event resembles.
//
// +kubebuilder:validation:Enum=Last;Monday;Tuesday;Wednesday;Thursday;Friday;Saturday;Sunday
type EventLike string

// EventLikeLast is the last occurrence of the event with the same name.
const EventLikeLast EventLike = "Last"

// DemandEvent is a time at which you know that the demand of the workloads in a namespace will be unusual. You can
// allow people to write DemandEvents without allowing them to write Forecasts. If a Forecast lists an event of the same
// name in spec.events, Forewarm uses that event for this Forecast and ignores the DemandEvent.
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

// DemandEventSpec says when the demand is unusual, what you know about the demand, and which Forecasts the event
// applies to.
type DemandEventSpec struct {
	EventSpec `json:",inline"`

	// Forecasts lists the names of the Forecasts to which the event applies, in the namespace of the DemandEvent. At
	// most 128. Default: all Forecasts of the namespace.
	// +kubebuilder:validation:MaxItems=128
	// +listType=set
	// +optional
	Forecasts []string `json:"forecasts,omitempty"`
}

// DemandEventStatus says what Forewarm does with the event.
type DemandEventStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Next is when the event begins next. Empty if it does not begin within the next two weeks.
	// +optional
	Next *metav1.Time `json:"next,omitempty"`
	// Forecasts is the number of Forecasts that use the event.
	// +optional
	Forecasts int32 `json:"forecasts"`
	// Conditions says whether the event is applied, and if it is not, why.
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
