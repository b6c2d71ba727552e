package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Labels of an Outlook. Use them to find the Forecasts that need attention, for example with "kubectl get outlooks -A
// -l inspect.forewarm.dev/state=Stale" or "-l 'inspect.forewarm.dev/objective in (AtMaxReplicas, FasterThanLead)'".
const (
	LabelState     = GroupName + "/state"
	LabelModel     = GroupName + "/model"
	LabelObjective = GroupName + "/objective"
)

// +kubebuilder:object:root=true

// Outlook is everything that Forewarm currently knows about one Forecast. An Outlook has the namespace and the name of
// its Forecast. It is read-only and never stored. The subresource plot shows it as an SVG image, and the subresource
// page shows it as an HTML page. The page outlooks/-/frontpage lists all Forecasts of a namespace.
type Outlook struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata: the namespace and the name of the Forecast, and labels with its state and its
	// model.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Status is the outlook itself. There is no spec, because an outlook cannot be configured.
	Status OutlookStatus `json:"status"`
}

// +kubebuilder:object:root=true

// OutlookList is a list of complete outlooks, sorted by namespace and name. Long lists are split into parts (parameters
// limit and continue), which kubectl requests one after another.
type OutlookList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items lists the outlooks.
	Items []Outlook `json:"items"`
}

// OutlookStatus is the outlook itself. Unknown numbers are left out. No number is ever NaN or infinite.
type OutlookStatus struct {
	// State is the state of the Forecast in one word: Ready, Warming, FallingBack (the newest samples are missing, and
	// Forewarm serves the running maximum), Stale (the data is too old, and Forewarm serves no value), Pending (no
	// history has been read yet) or Invalid.
	State string `json:"state"`
	// Reason says with numbers why this value is served, or why no value is served.
	Reason string `json:"reason"`
	// Conditions lists the conditions of the Forecast.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []Condition `json:"conditions,omitempty"`

	// Observed is the current demand. For a rate, it is the mean of the last minute, and for a gauge, it is the last
	// sample.
	// +optional
	Observed *float64 `json:"observed,omitempty"`
	// Served is the value that the metrics APIs return. Absent while Forewarm serves no value.
	// +optional
	Served *float64 `json:"served,omitempty"`
	// Serve says how the served value relates to the observed demand: Floor (the forecast, but never less than the
	// observed demand), Forecast (the forecast, even if it is lower) or Shadow (the observed demand; the forecast is
	// only recorded). It is Shadow while the Forecast is paused.
	Serve string `json:"serve"`
	// Unit is the unit of the demand, for example requests/s.
	// +optional
	Unit string `json:"unit,omitempty"`
	// Quantile is the quantile of the window peak that Forewarm serves. Absent with an objective or a cost ratio.
	// +optional
	Quantile *float64 `json:"quantile,omitempty"`
	// Late is the share of the demand that is allowed to be late. Absent without such an objective.
	// +optional
	Late *float64 `json:"late,omitempty"`
	// BadHours is the share of the demand that is allowed to arrive in bad hours. Absent without such an objective.
	// +optional
	BadHours *float64 `json:"badHours,omitempty"`
	// CostRatio is how many idle replica-hours cost as much as one replica-hour of late demand. Absent without a cost
	// ratio.
	// +optional
	CostRatio *float64 `json:"costRatio,omitempty"`
	// Window is the lead window: how far the served value looks ahead. It is the lead time (with an objective, the
	// median duration of the starts), plus the HPA's sync period, one step and the lag of the metric.
	Window metav1.Duration `json:"window"`
	// LeadTime is the time from a request for more replicas until they are ready.
	LeadTime LeadTime `json:"leadTime"`
	// SampleTime is the time of the newest real sample.
	// +optional
	SampleTime *metav1.Time `json:"sampleTime,omitempty"`
	// Step is the time between two samples.
	Step metav1.Duration `json:"step"`
	// Workload is the workload that the Forecast scales, for example Deployment/llama.
	// +optional
	Workload string `json:"workload,omitempty"`

	// Model is the forecast model that Forewarm currently uses, with the name that selectors use (model=…).
	// +optional
	Model string `json:"model,omitempty"`
	// PathModel is the model that forecasts the path. It differs from model if that model forecasts only the window
	// peak.
	// +optional
	PathModel string `json:"pathModel,omitempty"`
	// ModelReason says why Forewarm selected this model.
	// +optional
	ModelReason string `json:"modelReason,omitempty"`
	// Skill is the skill of the selected candidate. It compares the model with a forecast that simply repeats the last
	// value: 1 − (pinball loss of the model / pinball loss of the last value). If it is above 0, the model forecasts
	// better. Absent until it is known.
	// +optional
	Skill *float64 `json:"skill,omitempty"`
	// Coverage is the coverage of the selected candidate: the share of past lead windows whose peak was at or below the
	// quantile that the model forecast (with an objective, the 0.95 quantile). Absent until it is known.
	// +optional
	Coverage *float64 `json:"coverage,omitempty"`
	// Fallbacks is the number of steps since Forewarm started in which it served the fallback (the running maximum).
	// +optional
	Fallbacks int64 `json:"fallbacks,omitempty"`

	// Objective says whether the objective is met. Absent without an objective, and while the objective is not
	// calibrated. If it is not calibrated, the condition Uncalibrated has the reason.
	// +optional
	Objective *Objective `json:"objective,omitempty"`
	// Candidates lists all models with their scores, including the selected one.
	// +optional
	// +listType=atomic
	Candidates []Candidate `json:"candidates,omitempty"`
	// Path is the forecast for each future step.
	// +optional
	// +listType=atomic
	Path []PathStep `json:"path,omitempty"`
	// Day is the forecast of the mean demand in each of the next 24 hours. Absent in lists, and until Forewarm knows a
	// whole day of history.
	// +optional
	// +listType=atomic
	Day []PathStep `json:"day,omitempty"`
	// Past lists recent forecasts next to the actual window peaks, oldest first.
	// +optional
	// +listType=atomic
	Past []PastForecast `json:"past,omitempty"`
	// Recent is the observed demand of the last day in coarse steps, oldest first.
	// +optional
	// +listType=atomic
	Recent []Sample `json:"recent,omitempty"`
	// Variants lists the workloads that share the served value, beginning with the targetRef. Absent if there is only
	// one workload.
	// +optional
	// +listType=atomic
	Variants []Variant `json:"variants,omitempty"`
	// Events lists the known events of the next two weeks, each with its next occurrence. At most 32.
	// +optional
	// +listType=atomic
	Events []Event `json:"events,omitempty"`
	// Classifications lists the times in the last day at which the samples alone did not show the true demand, oldest
	// first. It contains at most the newest 64.
	// +optional
	// +listType=atomic
	Classifications []Classification `json:"classifications,omitempty"`
}

// Condition is one fact about a Forecast.
type Condition struct {
	// Type is the type of the condition, for example Ready.
	Type string `json:"type"`
	// Status is True or False.
	Status metav1.ConditionStatus `json:"status"`
	// Reason is the reason in one word.
	Reason string `json:"reason"`
	// Message explains the condition in a sentence.
	// +optional
	Message string `json:"message,omitempty"`
}

// LeadTime says how long new capacity takes, and where this number comes from.
type LeadTime struct {
	// Duration is the time from a request for more replicas until they are ready.
	Duration metav1.Duration `json:"duration"`
	// Source says where the duration comes from.
	// +optional
	Source string `json:"source,omitempty"`
	// WarmPool is the warm pool whose nodes make this duration possible. Absent if there is no such pool.
	// +optional
	WarmPool string `json:"warmPool,omitempty"`
}

// Candidate is one model, and how well it forecasts this demand.
type Candidate struct {
	// Name is the name of the model in selectors (model=…).
	Name string `json:"name"`
	// Title is the usual name of the model in statistics, for example ARIMA(1,1,1).
	// +optional
	Title string `json:"title,omitempty"`
	// Selected is true for the model whose forecast Forewarm serves.
	// +optional
	Selected bool `json:"selected,omitempty"`
	// Baseline is true for the simple forecasts that models are compared with: the last value, the running maximum, the
	// last season and the last week.
	// +optional
	Baseline bool `json:"baseline,omitempty"`
	// Loss is the mean recent pinball loss at the served level. Absent until it is known.
	// +optional
	Loss *float64 `json:"loss,omitempty"`
	// Skill is 1 − (loss of the model / loss of the last value). Above 0, the model forecasts better than the last
	// value. Absent until it is known.
	// +optional
	Skill *float64 `json:"skill,omitempty"`
	// Coverage is the share of past lead windows whose peak was at or below the forecast quantile of this model. Absent
	// until it is known.
	// +optional
	Coverage *float64 `json:"coverage,omitempty"`
	// Error says why the model cannot be used.
	// +optional
	Error string `json:"error,omitempty"`
	// Windows lists the calibrated distributions of the highest demand within each horizon, shortest horizon first.
	// +optional
	// +listType=atomic
	Windows []Window `json:"windows,omitempty"`
}

// Window is the distribution of the highest demand from now to the horizon.
type Window struct {
	// Horizon is the time from now to the end of the window.
	Horizon metav1.Duration `json:"horizon"`
	// Quantiles maps levels, for example "0.95", to values.
	Quantiles map[string]float64 `json:"quantiles"`
}

// PathStep is the forecast demand at one future step. The quantiles are calibrated for the first step. For later steps,
// they are further apart, as the errors of the model grow.
type PathStep struct {
	// Time is the time of the step.
	Time metav1.Time `json:"time"`
	// Point is the mean of the forecast. Absent if the model does not forecast a mean.
	// +optional
	Point *float64 `json:"point,omitempty"`
	// Quantiles maps levels, for example "0.95", to values.
	// +optional
	Quantiles map[string]float64 `json:"quantiles,omitempty"`
	// Replicas is the expected number of replicas for the demand in point. It assumes the same number of replicas per
	// unit of demand as Forewarm's values used, on average, over the budget's period. Present only in day, and absent
	// if it is not known.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
}

// PastForecast is a value that Forewarm served, and the actual peak of the lead window that followed.
type PastForecast struct {
	// Time is when Forewarm served the value.
	Time metav1.Time `json:"time"`
	// Forecast is the value that Forewarm served. Absent if Forewarm served no value.
	// +optional
	Forecast *float64 `json:"forecast,omitempty"`
	// Actual is the actual peak of the window, or a lower bound of the peak if the demand was censored. Absent while
	// the window has not ended, and if samples are missing in it.
	// +optional
	Actual *float64 `json:"actual,omitempty"`
}

// Sample is the observed demand over one coarse step.
type Sample struct {
	// Time is when the step begins.
	Time metav1.Time `json:"time"`
	// Observed is the mean demand over the step. Absent if samples are missing.
	// +optional
	Observed *float64 `json:"observed,omitempty"`
}

// Variant is one of the workloads that share the served value.
type Variant struct {
	// Name is the name with which the autoscaler selects this part (variant=…).
	Name string `json:"name"`
	// Served is this variant's part of the served value, which the metrics APIs return for this variant. The sum of all
	// parts is the served value plus the parts that are starting. The sum can be higher than that because of the
	// minimum replicas of the variants.
	Served float64 `json:"served"`
	// Replicas is how many replicas this part needs.
	Replicas int32 `json:"replicas"`
	// Starting is how much of this part cannot be served yet, because this variant takes longer to start than the first
	// one. Until the replicas are ready, the other variants serve that demand.
	// +optional
	Starting float64 `json:"starting,omitempty"`
	// Limited is true if Forewarm does not increase the part of this variant, because some replicas of the variant find
	// no node.
	// +optional
	Limited bool `json:"limited,omitempty"`
}

// Event is the current or the next occurrence of an event.
type Event struct {
	// Name is the name of the event.
	Name string `json:"name"`
	// Start is when the occurrence begins.
	Start metav1.Time `json:"start"`
	// End is when the occurrence ends.
	End metav1.Time `json:"end"`
	// Known says in one sentence what the event says about the demand.
	Known string `json:"known"`
	// Effects says what happened in the last two occurrences, oldest first.
	// +optional
	// +listType=atomic
	Effects []EventEffect `json:"effects,omitempty"`
}

// EventEffect says what happened in one occurrence of an event.
type EventEffect struct {
	// Start is when the occurrence began.
	Start metav1.Time `json:"start"`
	// Times is the demand during the occurrence, as a multiple of the usual demand at that time. Absent if there are no
	// samples.
	// +optional
	Times *float64 `json:"times,omitempty"`
	// Highest is the highest demand during the occurrence. Absent if there are no samples.
	// +optional
	Highest *float64 `json:"highest,omitempty"`
}

// Classification is a period in which the demand was censored or masked.
type Classification struct {
	// From is the time of the first sample of this kind.
	From metav1.Time `json:"from"`
	// To is the end of the last sample of this kind.
	To metav1.Time `json:"to"`
	// Kind is Censored (the true demand was at least the observed demand) or Masked (the true demand is unknown).
	Kind string `json:"kind"`
	// Message says why Forewarm classified the samples in this way.
	Message string `json:"message"`
	// Samples is the number of samples of this kind in the period. Forewarm uses the other samples in the period
	// unchanged.
	Samples int32 `json:"samples"`
}
