package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Labels of an Outlook, so that "kubectl get outlooks -A -l inspect.forewarm.dev/state=Stale" finds what needs a look, as
// "-l 'inspect.forewarm.dev/objective in (AtMaxReplicas, FasterThanLead)'" does.
const (
	LabelState     = GroupName + "/state"
	LabelModel     = GroupName + "/model"
	LabelObjective = GroupName + "/objective"
)

// +kubebuilder:object:root=true

// Outlook is all that forewarm knows about one Forecast now. It has the Forecast's namespace and name, is read
// only, and is never stored. The sub-resource plot is an SVG of it, page an HTML page. The page
// outlooks/-/frontpage lists all of a namespace.
type Outlook struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata: the Forecast's namespace and name, and labels with the state and the model.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Status is all there is: an outlook has nothing to specify.
	Status OutlookStatus `json:"status"`
}

// +kubebuilder:object:root=true

// OutlookList is a list of outlooks, each in full, in order of namespace and name. Long lists come in parts (limit and
// continue), as kubectl asks for them.
type OutlookList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the outlooks.
	Items []Outlook `json:"items"`
}

// OutlookStatus is the outlook itself. A number that is not known is left out; none is ever NaN or infinite.
type OutlookStatus struct {
	// State in one word: Ready, Warming, FallingBack (the newest samples are missing, the running maximum is served),
	// Stale (the data is too old, nothing is served), Pending (no history has been read yet) or Invalid.
	State string `json:"state"`
	// Reason is why this value is served, or why none is, with the numbers.
	Reason string `json:"reason"`
	// Conditions of the Forecast.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []Condition `json:"conditions,omitempty"`

	// Observed is the demand now: the mean of the last minute for a rate, the last sample for a gauge.
	// +optional
	Observed *float64 `json:"observed,omitempty"`
	// Served is the value that the metrics APIs answer. Absent while nothing is served.
	// +optional
	Served *float64 `json:"served,omitempty"`
	// Serve is how the served value relates to the observed demand: Floor (the forecast, never below the observed), Forecast
	// (the forecast as it is) or Shadow (the observed demand; the forecast is only recorded). It is Shadow while the Forecast is paused.
	Serve string `json:"serve"`
	// Unit of the demand, for example requests/s.
	// +optional
	Unit string `json:"unit,omitempty"`
	// Quantile of the window peak that is served. Absent with an objective or a cost ratio.
	// +optional
	Quantile *float64 `json:"quantile,omitempty"`
	// Late is the share of demand that may be late. Absent without such an objective.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// BadHours is the share of demand that may arrive in bad hours. Absent without such an objective.
	// +optional
	BadHours *float64 `json:"badHours,omitempty"`
	// CostRatio is how many idle replica-hours cost as much as a replica-hour of late demand. Absent without
	// a cost ratio.
	// +optional
	CostRatio *float64 `json:"costRatio,omitempty"`
	// Window is how far the served value looks ahead: lead time (with an objective the median start), HPA sync, one step and the
	// metric's lag.
	Window metav1.Duration `json:"window"`
	// LeadTime is the time from "more replicas" to "ready".
	LeadTime LeadTime `json:"leadTime"`
	// SampleTime is the time of the newest real sample.
	// +optional
	SampleTime *metav1.Time `json:"sampleTime,omitempty"`
	// Step is the grid of samples.
	Step metav1.Duration `json:"step"`
	// Workload is what the Forecast scales, for example Deployment/llama.
	// +optional
	Workload string `json:"workload,omitempty"`

	// Model that is selected, by its name in selectors (model=…).
	// +optional
	Model string `json:"model,omitempty"`
	// PathModel is the model that forecasts the path. It differs from Model where that forecasts only the window peak.
	// +optional
	PathModel string `json:"pathModel,omitempty"`
	// ModelReason is why that model is selected.
	// +optional
	ModelReason string `json:"modelReason,omitempty"`
	// Skill is 1 − loss/loss of the last value, by the loss that models are selected by (cost under an objective, else pinball loss):
	// above 0 is better than a reactive rule. Absent until known.
	// +optional
	Skill *float64 `json:"skill,omitempty"`
	// Coverage is the share of past windows whose peak was within the served quantile. Absent until known.
	// +optional
	Coverage *float64 `json:"coverage,omitempty"`
	// Fallbacks counts the steps served by the fallback since forewarm started.
	// +optional
	Fallbacks int64 `json:"fallbacks,omitempty"`

	// Objective is whether the objective is met. Absent without an objective that is calibrated; the condition Uncalibrated has
	// the reason.
	// +optional
	Objective *Objective `json:"objective,omitempty"`
	// Candidates are all models with their scores, the selected one included.
	// +optional
	// +listType=atomic
	Candidates []Candidate `json:"candidates,omitempty"`
	// Path is the forecast step by step.
	// +optional
	// +listType=atomic
	Path []PathStep `json:"path,omitempty"`
	// Day is the forecast of the next 24 hours, the mean of each. Absent in lists, and before a whole day is known.
	// +optional
	// +listType=atomic
	Day []PathStep `json:"day,omitempty"`
	// Past are recent forecasts beside the actual window peaks, oldest first.
	// +optional
	// +listType=atomic
	Past []PastForecast `json:"past,omitempty"`
	// Recent is the observed demand of the last day on a coarse grid, oldest first.
	// +optional
	// +listType=atomic
	Recent []Sample `json:"recent,omitempty"`
	// Variants are the workloads that share the served value, the first one first. Absent where there is one workload.
	// +optional
	// +listType=atomic
	Variants []Variant `json:"variants,omitempty"`
	// Events are what is known of the demand beforehand: those of the next two weeks, by their next occurrence, at most 32.
	// +optional
	// +listType=atomic
	Events []Event `json:"events,omitempty"`
	// Classifications are the times of that day at which the demand was not known from the samples alone, oldest first, the newest 64.
	// +optional
	// +listType=atomic
	Classifications []Classification `json:"classifications,omitempty"`
}

// Condition is one fact about a Forecast.
type Condition struct {
	// Type of the condition, for example Ready.
	Type string `json:"type"`
	// Status is True or False.
	Status metav1.ConditionStatus `json:"status"`
	// Reason in one word.
	Reason string `json:"reason"`
	// Message in a sentence.
	// +optional
	Message string `json:"message,omitempty"`
}

// LeadTime is how long new capacity takes, and the source of that figure.
type LeadTime struct {
	// Duration from "more replicas" to "ready".
	Duration metav1.Duration `json:"duration"`
	// Source of the duration.
	// +optional
	Source string `json:"source,omitempty"`
	// WarmPool is the pool on whose nodes the duration relies. Absent where none does.
	// +optional
	WarmPool string `json:"warmPool,omitempty"`
}

// Candidate is one model and how well it did on this series.
type Candidate struct {
	// Name as a selector (model=…) writes it.
	Name string `json:"name"`
	// Title is the model in the field's words, for example ARIMA(1,1,1).
	// +optional
	Title string `json:"title,omitempty"`
	// Selected is true for the model that is served.
	// +optional
	Selected bool `json:"selected,omitempty"`
	// Baseline is true for a baseline: last value, running maximum, last season or last week.
	// +optional
	Baseline bool `json:"baseline,omitempty"`
	// Loss is the trailing mean pinball loss at the served level. Absent until known.
	// +optional
	Loss *float64 `json:"loss,omitempty"`
	// Skill is 1 − loss/loss of the last value. Absent until known.
	// +optional
	Skill *float64 `json:"skill,omitempty"`
	// Coverage is the share of windows within the served quantile. Absent until known.
	// +optional
	Coverage *float64 `json:"coverage,omitempty"`
	// Error says why the model does not take part.
	// +optional
	Error string `json:"error,omitempty"`
	// Windows are the calibrated distributions of the demand's maximum by horizon, ascending.
	// +optional
	// +listType=atomic
	Windows []Window `json:"windows,omitempty"`
}

// Window is the distribution of the maximum of demand from now to the horizon.
type Window struct {
	// Horizon from now.
	Horizon metav1.Duration `json:"horizon"`
	// Quantiles by level, for example "0.95".
	Quantiles map[string]float64 `json:"quantiles"`
}

// PathStep is the demand at one step ahead: its quantiles are calibrated at the first step and widen as the errors of the
// model do.
type PathStep struct {
	// Time of the step.
	Time metav1.Time `json:"time"`
	// Point is the mean. Absent where the model has none.
	// +optional
	Point *float64 `json:"point,omitempty"`
	// Quantiles by level, for example "0.95".
	// +optional
	Quantiles map[string]float64 `json:"quantiles,omitempty"`
	// Replicas are those that are expected for the point: as many for each unit of demand as Forewarm's value took over the budget's
	// period. Only of hours, and absent where that is not known.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
}

// PastForecast is a value that was served and the actual peak of the window after it.
type PastForecast struct {
	// Time at which the value was served.
	Time metav1.Time `json:"time"`
	// Forecast is the value that was served. Absent where none was.
	// +optional
	Forecast *float64 `json:"forecast,omitempty"`
	// Actual is the window peak, or a lower bound of it where the demand was censored. Absent while the window is open, and
	// where it has a gap.
	// +optional
	Actual *float64 `json:"actual,omitempty"`
}

// Sample is the observed demand over one step of the coarse grid.
type Sample struct {
	// Time at which the step begins.
	Time metav1.Time `json:"time"`
	// Observed is the mean over the step. Absent in a gap.
	// +optional
	Observed *float64 `json:"observed,omitempty"`
}

// Variant is one of the workloads that share the served value.
type Variant struct {
	// Name by which its autoscaler selects its part (variant=…).
	Name string `json:"name"`
	// Served is its part, which the metrics APIs answer. The parts add up to the served value and what is starting, and may exceed that by
	// their minima.
	Served float64 `json:"served"`
	// Replicas are those that the part takes.
	Replicas int32 `json:"replicas"`
	// Starting is what of the part is not ready, because the variant takes longer than the first to start. The others have it meanwhile.
	// +optional
	Starting float64 `json:"starting,omitempty"`
	// Limited is true where it is asked for no more, because replicas of it find no node.
	// +optional
	Limited bool `json:"limited,omitempty"`
}

// Event is the present or the next occurrence of an event.
type Event struct {
	// Name of the event.
	Name string `json:"name"`
	// Start of the occurrence.
	Start metav1.Time `json:"start"`
	// End of the occurrence.
	End metav1.Time `json:"end"`
	// Known is what is known of the demand, in words.
	Known string `json:"known"`
	// Effects are what the last two occurrences came to, the newest last.
	// +optional
	// +listType=atomic
	Effects []EventEffect `json:"effects,omitempty"`
}

// EventEffect is what an occurrence of an event came to.
type EventEffect struct {
	// Start of the occurrence.
	Start metav1.Time `json:"start"`
	// Times is the demand as a multiple of what is usual at that time. Absent without samples.
	// +optional
	Times *float64 `json:"times,omitempty"`
	// Highest demand. Absent without samples.
	// +optional
	Highest *float64 `json:"highest,omitempty"`
}

// Classification is a time in which the demand was censored or masked.
type Classification struct {
	// From is the time of the first sample of this kind.
	From metav1.Time `json:"from"`
	// To is the end of the last one.
	To metav1.Time `json:"to"`
	// Kind is Censored (the demand was at least the observed one) or Masked (it is unknown).
	Kind string `json:"kind"`
	// Message is why.
	Message string `json:"message"`
	// Samples of this kind in that time; the others count as they are.
	Samples int32 `json:"samples"`
}
