package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PauseAnnotation pauses a Forecast while its value is true, as strconv.ParseBool reads it.
const PauseAnnotation = "forewarm.dev/pause"

// Forecast tells Forewarm which demand to forecast, and which workload serves that demand. Autoscalers read the
// result as a metric with the name of the Forecast.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=fc,categories=forewarm
// +kubebuilder:metadata:labels=app.kubernetes.io/part-of=forewarm
// +kubebuilder:metadata:annotations=helm.sh/resource-policy=keep
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Observed",type=string,JSONPath=`.status.observed`
// +kubebuilder:printcolumn:name="Served",type=string,JSONPath=`.status.served`
// +kubebuilder:printcolumn:name="Unit",type=string,JSONPath=`.status.unit`,priority=1
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.model`
// +kubebuilder:printcolumn:name="Lead",type=string,JSONPath=`.status.leadTime`
// +kubebuilder:printcolumn:name="Lead from",type=string,JSONPath=`.status.leadTimeSource`,priority=1
// +kubebuilder:printcolumn:name="Late",type=string,JSONPath=`.status.objective.late`
// +kubebuilder:printcolumn:name="Asked",type=string,JSONPath=`.status.objective.asked`,priority=1
// +kubebuilder:printcolumn:name="Skill",type=string,JSONPath=`.status.skill`
// +kubebuilder:printcolumn:name="Coverage",type=string,JSONPath=`.status.coverage`
// +kubebuilder:printcolumn:name="Data age",type=date,JSONPath=`.status.sampleTime`,priority=1
// +kubebuilder:printcolumn:name="Headline",type=string,JSONPath=`.status.objective.headline`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Forecast struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ForecastSpec `json:"spec"`
	// +optional
	Status ForecastStatus `json:"status,omitzero"`
}

// ForecastList is a list of Forecasts.
//
// +kubebuilder:object:root=true
type ForecastList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Forecast `json:"items"`
}

// ForecastSpec is the desired behavior of a Forecast. Only targetRef and signal are required. All other fields have
// defaults.
//
// +kubebuilder:validation:XValidation:rule="[has(self.objective), has(self.quantile), has(self.costRatio)].filter(given, given).size() <= 1",message="objective, quantile and costRatio exclude each other, keep one"
type ForecastSpec struct {
	// TargetRef is the workload that serves the demand and that is scaled. Forewarm measures the lead time on the
	// pods of this workload, and a preset reads the metrics of these pods.
	TargetRef TargetRef `json:"targetRef"`

	// FormerNames lists earlier values of targetRef.name, so that a renamed workload keeps its history. Use it after a
	// rename and for blue-green deployments. A preset then also reads the demand of the pods with these names, and
	// Forewarm keeps the start times that it measured on them. List the newest name first, at most 4 names. Default:
	// none. A preset then reads only the pods of targetRef.
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	FormerNames []string `json:"formerNames,omitempty"`

	// Signal says where Forewarm reads the demand: from a preset or from a PromQL query. The query must return one
	// series: the TOTAL demand of all replicas.
	Signal Signal `json:"signal"`

	// Objective says how reliable the service must be: what share of the demand is allowed to arrive in bad hours, or
	// to be late. Forewarm adds as much headroom to the forecast as the objective requires. Default: badHours 1%, wait
	// 30s and over 14d, unless quantile or costRatio is set.
	// +optional
	Objective *Objective `json:"objective,omitempty"`

	// Quantile replaces the objective: Forewarm serves this quantile of the window peak, which is the highest demand
	// within the lead window. Write a number from 0.05 to 0.995 in quotes, for example "0.95". Cannot be combined with
	// objective or costRatio. Default: not set, and the objective applies.
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^0?\.[0-9]+$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^0?[.][0-9]+$') || (double(self) >= 0.05 && double(self) <= 0.995)",message="write a number from 0.05 to 0.995"
	// +optional
	Quantile string `json:"quantile,omitempty"`

	// CostRatio replaces the objective with a price for lateness. It says how many idle replica-hours cost as much as
	// one replica-hour of demand that waits longer than 30s. Forewarm then serves the value with the lowest total cost
	// of idle replicas and late demand. Write a number above 0 and at most 1000000 in quotes, for example "20". Cannot
	// be combined with objective or quantile. Default: not set, and the objective applies.
	// +optional
	CostRatio Positive `json:"costRatio,omitempty"`

	// History is how far back Forewarm reads the demand to learn from it. It must be at least 10 steps and two lead
	// windows long, and at most 400d and 120000 steps. Default 14d.
	// +optional
	History Duration `json:"history,omitempty"`

	// Step is the time between two samples of the demand, in whole seconds. Default 30s, minimum 1s, maximum 2h.
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(0+(y|w|d|h|m|s))*([0-9]+ms)?$')",message="write a whole number of seconds, at least 1s"
	// +optional
	Step Duration `json:"step,omitempty"`

	// Seasons are the cycles in which the demand repeats, for example [1d, 7d]. List one or two, the shorter one first.
	// Each must be a whole number of steps and at most half of the history. Forewarm scores the models over one whole
	// cycle of the first season. Default: the flag --season of the server, which is one day unless it was changed.
	// +kubebuilder:validation:MaxItems=2
	// +listType=atomic
	// +optional
	Seasons []Duration `json:"seasons,omitempty"`

	// LeadTime says how Forewarm determines the lead time of the workload: the time from a request for more replicas
	// until these replicas are ready. Forewarm looks at least this far ahead. Default: Forewarm measures it on the
	// workload's pods, and uses 5m until it has measured enough starts.
	// +optional
	LeadTime *LeadTime `json:"leadTime,omitempty"`

	// Serve says how the served value relates to the observed demand. Floor serves the forecast, but never less than
	// the observed demand. Forecast serves the forecast even where it is below the observed demand. Shadow serves the
	// observed demand and only records the forecast. Default Floor.
	// +optional
	Serve ServeMode `json:"serve,omitempty"`

	// Models limits which forecast models Forewarm fits and selects from. Forewarm selects the model with the best
	// score on this demand. List at most 16 of ses, holt, holt-winters, arima and auto. Default: arima and holt-winters,
	// and with a quantile also ses and holt.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=set
	// +optional
	Models []string `json:"models,omitempty"`

	// Deferrable describes additional work that can wait until a deadline, such as batch requests. Forewarm runs this
	// work on the spare capacity that the headroom provides, and adds replicas only if work would miss its deadline
	// otherwise. Requires an objective or a costRatio. Default: no such work.
	// +optional
	Deferrable *Deferrable `json:"deferrable,omitempty"`

	// Price is what one replica of targetRef costs per hour. Forewarm uses it to show costs and to split the demand
	// among variants. Write a number above 0 and at most 1000000 in quotes, in any currency. Default: no price.
	// Forewarm then shows no costs.
	// +optional
	Price Positive `json:"price,omitempty"`

	// Variants are other workloads that serve the same demand, for example on spot nodes or on another type of GPU. The
	// signal must contain the demand of all of them. Forewarm splits the served value among targetRef and the variants.
	// The autoscaler of a variant selects its part with the label variant=NAME, where NAME is the name of the variant.
	// The autoscaler of targetRef uses the name in targetRef instead. An autoscaler without the label gets the whole
	// value. At most 7 variants. Default: none, and targetRef
	// serves the whole demand.
	// +kubebuilder:validation:MaxItems=7
	// +listType=map
	// +listMapKey=name
	// +optional
	Variants []Variant `json:"variants,omitempty"`

	// Events are times at which you know that the demand will be unusual, such as a launch, a holiday or a load test.
	// Forewarm combines them with the forecast. At most 32. Default: none.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	Events []ForecastEvent `json:"events,omitempty"`

	// Scaling says how the demand is converted into replicas when no HPA and no ScaledObject reads this Forecast.
	// Forewarm needs this to calibrate the objective, and changes no replicas itself. If an autoscaler reads the
	// Forecast, Forewarm uses the settings of that autoscaler instead, except for the field before, which Forewarm uses
	// in both cases. Default: not set. Without an autoscaler, Forewarm then cannot
	// calibrate the objective and serves the quantile 0.95.
	// +optional
	Scaling *Scaling `json:"scaling,omitempty"`

	// Expose serves the Forecast under a second External metric name, so that an HPA that read its metric from another
	// adapter can stay unchanged. Default: only the name of the Forecast.
	// +optional
	Expose *Expose `json:"expose,omitempty"`

	// StaleAfter limits the age of the newest sample. If the newest sample is older than this, Forewarm stops serving a
	// value. Without a value, the HPA keeps its current replicas. At least two steps plus signal.delay, at most 24h.
	// Default: the longest of 10m, the lead window and two steps, plus signal.delay.
	// +optional
	StaleAfter Duration `json:"staleAfter,omitempty"`
}

// Positive is a number above 0 and at most 1000000, in quotes.
//
// +kubebuilder:validation:MaxLength=16
// +kubebuilder:validation:Pattern=`^([0-9]+|[0-9]*\.[0-9]+)$`
// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]+|[0-9]*[.][0-9]+)$') || (double(self) > 0.0 && double(self) <= 1000000.0)",message="write a number above 0, at most 1000000"
type Positive string

// Variant is another workload that serves the same demand.
type Variant struct {
	// Name identifies the variant. Its autoscaler selects its part of the served value with the label variant=NAME.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// TargetRef is the workload of the variant. Leave it empty if the workload is in another cluster. In that case, set
	// scaling, so that Forewarm knows what one replica sustains.
	// +optional
	TargetRef *TargetRef `json:"targetRef,omitempty"`
	// Price is what one replica of this variant costs per hour. Forewarm first fills the variant that costs the least
	// per unit of demand. Write a number above 0 and at most 1000000 in quotes, in any currency. Set a price for all
	// variants and spec.price for targetRef, or set no price at all. Default: no price. Variants
	// that start slowly are then filled first, and after them targetRef and the others in the order of the list.
	// +optional
	Price Positive `json:"price,omitempty"`
	// LeadTime is how long this variant takes from a request for more replicas until they are ready. If a variant is
	// cheaper than targetRef but starts more slowly, it serves the steady part of the demand, and the other variants
	// serve the rest. Default: the lead time of targetRef.
	// +optional
	LeadTime Duration `json:"leadTime,omitempty"`
	// Scaling says how this variant's part of the demand is converted into replicas when no autoscaler in this cluster
	// selects the variant. Default: not set. Without an autoscaler, the variant then gets no share of the demand.
	// +optional
	Scaling *VariantScaling `json:"scaling,omitempty"`
}

// VariantScaling says how a variant's part of the demand is converted into replicas.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas must not exceed maxReplicas"
type VariantScaling struct {
	// Target is the demand that one replica sustains at full capacity, in the unit of the signal.
	Target resource.Quantity `json:"target"`
	// MinReplicas is the lower limit for the replicas of the variant. Default 1.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	// MaxReplicas is the upper limit for the replicas of the variant. Default: no limit.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
}

// Deferrable is work that can wait for some time after it has arrived.
type Deferrable struct {
	// Signal says where Forewarm reads how much deferrable work arrives, in the unit of spec.signal. If that unit is
	// requests in flight, multiply the arrivals per second by the seconds that a replica takes for a request. The demand
	// in spec.signal must not include this work.
	Signal WorkSignal `json:"signal"`
	// Deadline is how long the work can wait after it has arrived, from 1m to 24h.
	Deadline Duration `json:"deadline"`
}

// WorkSignal says where Forewarm reads how much deferrable work arrives. Set either preset or query.
//
// +kubebuilder:validation:XValidation:rule="has(self.preset) != has(self.query)",message="set exactly one of preset and query"
type WorkSignal struct {
	// Preset is the name of a query that Forewarm provides, for example gateway/arrivals-deferrable. `forewarm presets`
	// lists all presets. Set either preset or query.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Preset string `json:"preset,omitempty"`
	// Query is your own PromQL query. It must return one series: all of the deferrable work that arrives, in the unit
	// of spec.signal. If the query returns no series, Forewarm assumes that no work arrives. Set either preset or
	// query.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8192
	// +optional
	Query string `json:"query,omitempty"`
}

// Duration is a duration in the notation of Prometheus, for example 30s, 5m, 1h30m or 14d.
//
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$`
type Duration string

// Expose contains the metric name and the labels that an HPA in the Forecast's namespace requests. Copy them from
// metric.name and metric.selector.matchLabels in the HPA.
type Expose struct {
	// Metric is the name of the External metric that the HPA requests. Capital letters, underscores and colons are
	// allowed. If another Forecast has this name, the HPA gets the value of that Forecast instead.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_:][A-Za-z0-9_:.-]*$`
	Metric string `json:"metric"`
	// MatchLabels must be exactly the labels in the HPA's selector, except for badHours, horizon, late, model, quantile
	// and serve. An HPA can always add these six labels to request another view of the Forecast, so do not list them
	// here. Default: no labels.
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="['badHours', 'horizon', 'late', 'model', 'quantile', 'serve'].all(view, !(view in self))",message="badHours, horizon, late, model, quantile and serve ask for another view of a Forecast: remove them"
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

// TargetRef identifies a workload in the namespace of the object that contains this reference.
type TargetRef struct {
	// APIVersion is the API group and version of the workload. Default apps/v1.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind is the kind of the workload: Deployment, StatefulSet, or any other kind with a scale subresource.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// Name is the name of the workload, in the namespace of the Forecast.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Signal says where Forewarm reads the demand. Set either preset or query.
//
// +kubebuilder:validation:XValidation:rule="has(self.preset) != has(self.query)",message="set exactly one of preset and query"
type Signal struct {
	// Preset is the name of a query that Forewarm provides, for example vllm/inflight. `forewarm presets` lists all
	// presets. Set either preset or query.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Preset string `json:"preset,omitempty"`
	// Query is your own PromQL query. It must return one series: the total demand of all replicas. Set either preset or
	// query.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8192
	// +optional
	Query string `json:"query,omitempty"`
	// Saturated is a PromQL query that says when the service is at its limit. It must return one series whose value is
	// above 0 at such times, for example the length of the queue: max(vllm:num_requests_waiting). While it is above 0,
	// Forewarm treats the observed demand as a lower bound of the true demand. Set it for signals that stop growing
	// when the service is full, such as throughput or busy GPUs. Signals that count arrivals, or running plus waiting
	// requests, do not need it. If the query returns no series, Forewarm assumes that the service is not saturated.
	// Default: no query, and Forewarm uses the observed demand unchanged.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8192
	// +optional
	Saturated string `json:"saturated,omitempty"`
	// Delay is how long a sample takes to become complete in the source, in addition to one step. Set it if the source
	// always lags, for example because of remote write or a recording rule. Forewarm ignores samples that are more
	// recent than this, and looks further ahead by the same time. You do not need it for samples that are only
	// sometimes late, because Forewarm reads the newest minutes again. Default 0s, maximum 30m.
	// +optional
	Delay Duration `json:"delay,omitempty"`
	// Source is the name of the metrics source that Forewarm reads this Forecast's history from. The operator of
	// Forewarm must have granted this source to the namespace. Default: the first source that is granted to the
	// namespace, or the only source if Forewarm has just one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Source string `json:"source,omitempty"`
}

// Objective says how much of the demand is allowed to be late, or to arrive in bad hours.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.late) && has(self.badHours))",message="late and badHours exclude each other, keep one"
type Objective struct {
	// Late is the share of the demand that is allowed to wait longer than the time in wait, for example "1%". It must
	// be above 0% and below 100%. Cannot be combined with badHours.
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+)?%$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]+([.][0-9]+)?%$') || (double(self.replace('%', '')) > 0.0 && double(self.replace('%', '')) < 100.0)",message="write a percentage above 0% and below 100%"
	// +optional
	Late string `json:"late,omitempty"`
	// BadHours is the share of the demand that is allowed to arrive in bad hours, for example "1%". A bad hour is a
	// UTC clock hour in which more than a tenth of the demand waits longer than the time in wait. It must be above 0%
	// and below 100%. Cannot be combined with late. Default 1% if late is not set.
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+)?%$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]+([.][0-9]+)?%$') || (double(self.replace('%', '')) > 0.0 && double(self.replace('%', '')) < 100.0)",message="write a percentage above 0% and below 100%"
	// +optional
	BadHours string `json:"badHours,omitempty"`
	// Wait is how long demand can wait before it counts as late. From 1s to 1h. Default 30s.
	// +optional
	Wait Duration `json:"wait,omitempty"`
	// Over is the rolling period of the lateness budget. Within it, the share of the demand that is late, or that
	// arrives in bad hours, must not exceed the objective. Write a whole number of hours that is not longer than the
	// history. With badHours, use at least 7d, because in a shorter period a single bad hour uses up the budget.
	// Default: 14d with badHours and 7d with late, or the history if that is shorter.
	// +optional
	Over Duration `json:"over,omitempty"`
	// Measured says where Forewarm reads the lateness that users really see, to show it next to the simulated lateness.
	// It is for comparison only, and has no effect on served values. Forewarm always chooses the headroom by the
	// simulated lateness. Forewarm reads it from the same source as signal. Default: not measured.
	// +optional
	Measured *MeasuredLateness `json:"measured,omitempty"`
}

// MeasuredLateness says where Forewarm reads the share of requests that waited longer than the objective's wait. Set
// either preset or query.
//
// +kubebuilder:validation:XValidation:rule="has(self.preset) != has(self.query)",message="set exactly one of preset and query"
type MeasuredLateness struct {
	// Preset is the name of a query that Forewarm provides, for example vllm/queue-time. Set either preset or query.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Preset string `json:"preset,omitempty"`
	// Query is your own PromQL query. It must return one series with values from 0 to 1: the share of the last five
	// minutes' requests that waited longer than the objective's wait. If there were no requests, it must return NaN or
	// no series. Set either preset or query.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8192
	// +optional
	Query string `json:"query,omitempty"`
}

// LeadTimeMode says where the lead time comes from.
//
// +kubebuilder:validation:Enum=Auto;Fixed
type LeadTimeMode string

const (
	// LeadTimeAuto measures the lead time on the pods of the workload. Until enough starts are measured, Forewarm uses
	// Fallback. While a WarmPool is ready for the Forecast, Forewarm measures only pods that found an existing node.
	LeadTimeAuto LeadTimeMode = "Auto"
	// LeadTimeFixed uses the lead time in Duration.
	LeadTimeFixed LeadTimeMode = "Fixed"
)

// LeadTime says how Forewarm determines how long new capacity takes. For a Forecast, this is the time from a request
// for more replicas until they are ready. For a WarmPool, it is the time from the request for a new node until pods
// start on it.
//
// +kubebuilder:validation:XValidation:rule="(has(self.mode) && self.mode == 'Fixed') == has(self.duration)",message="mode Fixed takes a duration, and only mode Fixed does"
// +kubebuilder:validation:XValidation:rule="!(has(self.mode) && self.mode == 'Fixed' && has(self.fallback))",message="fallback is for mode Auto only"
type LeadTime struct {
	// Mode says where the lead time comes from. Auto measures it on pods. Fixed uses the value of duration. Default
	// Auto.
	// +optional
	Mode LeadTimeMode `json:"mode,omitempty"`
	// Fallback is the lead time that Forewarm uses in mode Auto until it has measured enough starts. From 1s to 2h.
	// Default 5m. Leave it empty in mode Fixed.
	// +optional
	Fallback Duration `json:"fallback,omitempty"`
	// Duration is the lead time in mode Fixed, from 1s to 2h. Required in mode Fixed. Leave it empty in mode Auto.
	// +optional
	Duration Duration `json:"duration,omitempty"`
}

// ServeMode says how the served value relates to the observed demand.
//
// +kubebuilder:validation:Enum=Floor;Forecast;Shadow
type ServeMode string

const (
	// ServeFloor serves the forecast, but never less than the observed demand. Forewarm can only add capacity.
	ServeFloor ServeMode = "Floor"
	// ServeForecast serves the forecast even if it is below the observed demand because the load is about to fall.
	ServeForecast ServeMode = "Forecast"
	// ServeShadow serves the observed demand. The forecast is only recorded.
	ServeShadow ServeMode = "Shadow"
)

// Scaling says how the demand is converted into replicas.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas must not exceed maxReplicas"
// +kubebuilder:validation:XValidation:rule="has(self.target) || has(self.before)",message="write target, the demand that one replica sustains"
type Scaling struct {
	// Target is the demand that one replica sustains at full capacity, in the unit of the signal. Leave no reserve:
	// Forewarm adds the headroom. An HPA that reads the Forecast has this number as its averageValue. Write a quantity above 0, for example 64, 0.5 or 4k. Required unless before is set.
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : (type(self) == string && size(self) <= 32 && !self.matches('[eE][+-]?[0-9]{3}') && isQuantity(self) && quantity(self).isGreaterThan(quantity('0')))",message="write a quantity above 0"
	// +optional
	Target resource.Quantity `json:"target,omitzero"`
	// MinReplicas is the lower limit for the replicas of the workload. Default 1.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	// MaxReplicas is the upper limit for the replicas of the workload. Default: no limit.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
	// Before describes the previous HPA, which scaled the workload before Forewarm did. Forewarm compares its results
	// with this HPA. While the Forecast is paused, Forewarm serves a value by which the current autoscaler asks for as
	// many replicas as this HPA would. Forewarm uses this field even if an HPA or a ScaledObject reads the Forecast. Default: Forewarm assumes an HPA that scales on the
	// observed demand, with a target of 70% of what one replica sustains.
	// +optional
	Before *BeforeScaling `json:"before,omitempty"`
}

// BeforeScaling is an HPA that scales on the observed demand, with the default scale-down behavior.
type BeforeScaling struct {
	// Target is the averageValue of that HPA: how much demand it assigned to each replica, in the unit of the signal.
	// Required.
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : (type(self) == string && size(self) <= 32 && !self.matches('[eE][+-]?[0-9]{3}') && isQuantity(self) && quantity(self).isGreaterThan(quantity('0')))",message="write a quantity above 0"
	Target resource.Quantity `json:"target"`
	// MinReplicas is the minReplicas of that HPA. Default: minReplicas of the current autoscaler.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MinReplicas int32 `json:"minReplicas,omitempty"`
}
