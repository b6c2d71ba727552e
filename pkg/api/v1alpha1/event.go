package v1alpha1

// ForecastEvent is a time at which the demand is known to be unusual, and what is known of it. What is known is combined with what is
// forecast; the served value is never below the observed demand.
//
// +kubebuilder:validation:XValidation:rule="[has(self.atLeast), has(self.times), has(self.like), has(self.ignore)].filter(given, given).size() == 1",message="write one of atLeast, times, like and ignore"
type ForecastEvent struct {
	// Name of the event; those that recur are compared by it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Start is the first time, by the clock of the time zone: a date, 2026-12-24, or a date and a time, 2026-12-24T18:00.
	// +kubebuilder:validation:MaxLength=19
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?)?$`
	Start string `json:"start"`
	// Duration of an occurrence, at most 60d. Whole days end at the time of the day at which they begin, whatever daylight saving does.
	Duration Duration `json:"duration"`
	// TimeZone is a name of the time zone database, for example Europe/Berlin. Default UTC.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
	// Recurrence is a rule as calendars have it (RFC 5545), for example FREQ=WEEKLY;BYDAY=MO,TH, at most once an hour. Default: once.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Recurrence string `json:"recurrence,omitempty"`

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

// EventLike is what a demand is like.
//
// +kubebuilder:validation:Enum=Last;Monday;Tuesday;Wednesday;Thursday;Friday;Saturday;Sunday
type EventLike string

// EventLikeLast is the last occurrence of the same name.
const EventLikeLast EventLike = "Last"
