package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PauseAnnotation pauses a Forecast while its value is true, as strconv.ParseBool reads it.
const PauseAnnotation = "forewarm.dev/pause"

// Forecast names a demand to forecast, and the workload that serves it. The metric has the Forecast's name.
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

// ForecastSpec is what the user asks for. Everything but targetRef and signal has a default.
//
// +kubebuilder:validation:XValidation:rule="[has(self.objective), has(self.quantile), has(self.costRatio)].filter(given, given).size() <= 1",message="objective, quantile and costRatio exclude each other, keep one"
type ForecastSpec struct {
	// TargetRef is the workload that serves the demand. Its pods' start-up times give the lead time, and presets select its
	// series.
	TargetRef TargetRef `json:"targetRef"`

	// FormerNames are names that targetRef.name had before, the newest first: a preset has the demand of their pods, too, and the
	// measured starts are taken over. For a renamed workload, and for blue and green.
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	FormerNames []string `json:"formerNames,omitempty"`

	// Signal is the demand: the TOTAL over all replicas, as one series.
	Signal Signal `json:"signal"`

	// Objective is how much demand may arrive in bad hours, or be late. The headroom follows from it. Default: badHours 1%, wait 30s, over 14d.
	// +optional
	Objective *Objective `json:"objective,omitempty"`

	// Quantile of the demand's maximum over the lead window to serve instead of an objective, from 0.05 to 0.995, in
	// quotes.
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^0?\.[0-9]+$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^0?[.][0-9]+$') || (double(self) >= 0.05 && double(self) <= 0.995)",message="write a number from 0.05 to 0.995"
	// +optional
	Quantile string `json:"quantile,omitempty"`

	// CostRatio is how many idle replica-hours cost as much as a replica-hour of demand that waits longer than 30s. It
	// replaces an objective: the headroom is the one with which both together cost least. Above 0, at most 1000000,
	// in quotes.
	// +optional
	CostRatio Positive `json:"costRatio,omitempty"`

	// History to learn from. Default 14d.
	// +optional
	History Duration `json:"history,omitempty"`

	// Step between samples, at least 1s. Default 30s.
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(0+(y|w|d|h|m|s))*([0-9]+ms)?$')",message="write a whole number of seconds, at least 1s"
	// +optional
	Step Duration `json:"step,omitempty"`

	// Seasons are the one or two cycles in which the demand repeats, the shorter first, each a whole number of steps
	// and at most half of the history. Models are judged over the first. Default: the server's --season, a day.
	// +kubebuilder:validation:MaxItems=2
	// +listType=atomic
	// +optional
	Seasons []Duration `json:"seasons,omitempty"`

	// LeadTime is how long the workload takes from "more replicas" to "ready". Default: measured, 5m until then.
	// +optional
	LeadTime *LeadTime `json:"leadTime,omitempty"`

	// Serve is how the served value relates to the observed demand. Default Floor.
	// +optional
	Serve ServeMode `json:"serve,omitempty"`

	// Models to select from, by name. Default: those that the objective or the quantile reads. The one that scores best
	// on this demand is selected.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=set
	// +optional
	Models []string `json:"models,omitempty"`

	// Deferrable is work beside the demand that may wait until a deadline. It is planned into what the demand's headroom leaves. Needs
	// an objective or a costRatio.
	// +optional
	Deferrable *Deferrable `json:"deferrable,omitempty"`

	// Price of a replica for an hour, in any currency, in quotes. Default: none, and no money is shown.
	// +optional
	Price Positive `json:"price,omitempty"`

	// Variants are other workloads that serve the demand, too, for example on spot or on another kind of GPU. The demand is that of all.
	// An autoscaler selects its part by variant: the name; that of targetRef selects the targetRef's own.
	// +kubebuilder:validation:MaxItems=7
	// +listType=map
	// +listMapKey=name
	// +optional
	Variants []Variant `json:"variants,omitempty"`

	// Events are times at which the demand is known to be unusual: a launch, a holiday, a load test.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	Events []ForecastEvent `json:"events,omitempty"`

	// Scaling is how the demand becomes replicas, where no HPA or ScaledObject refers to this Forecast.
	// +optional
	Scaling *Scaling `json:"scaling,omitempty"`

	// Expose is a second name under which External metrics are answered, so that an HPA that read another adapter stays as it is.
	// +optional
	Expose *Expose `json:"expose,omitempty"`

	// StaleAfter is the age of the newest sample beyond which nothing is served, so that the HPA keeps its replicas.
	// Default: 10m, or the lead window where that is longer.
	// +optional
	StaleAfter Duration `json:"staleAfter,omitempty"`
}

// Positive is a number above 0, at most 1000000.
//
// +kubebuilder:validation:MaxLength=16
// +kubebuilder:validation:Pattern=`^([0-9]+|[0-9]*\.[0-9]+)$`
// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]+|[0-9]*[.][0-9]+)$') || (double(self) > 0.0 && double(self) <= 1000000.0)",message="write a number above 0, at most 1000000"
type Positive string

// Variant is another workload that serves the demand.
type Variant struct {
	// Name by which its autoscaler selects its part.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// TargetRef is the workload. Without one it is in another cluster, and scaling says what a replica sustains.
	// +optional
	TargetRef *TargetRef `json:"targetRef,omitempty"`
	// Price of a replica for an hour. Either all variants have one, with spec.price that of the targetRef, or none. The cheapest for the
	// demand that it sustains is filled first.
	// +optional
	Price Positive `json:"price,omitempty"`
	// LeadTime is how long a replica takes from "more replicas" to "ready". Default: that of the targetRef. One that takes longer holds
	// what lasts, and the others have the rest.
	// +optional
	LeadTime Duration `json:"leadTime,omitempty"`
	// Scaling is how its part becomes replicas, where no autoscaler selects it here.
	// +optional
	Scaling *VariantScaling `json:"scaling,omitempty"`
}

// VariantScaling is how the part of a variant becomes replicas.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas must not exceed maxReplicas"
type VariantScaling struct {
	// Target is the demand that one replica sustains at full capacity, in the signal's unit.
	Target resource.Quantity `json:"target"`
	// MinReplicas is the least that it is scaled to. Default 1.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	// MaxReplicas is the most that it is scaled to. Default: no bound.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
}

// Deferrable is work that may wait until a deadline after it has arrived.
type Deferrable struct {
	// Signal is the work that arrives, in the unit of spec.signal, which must not contain it.
	Signal WorkSignal `json:"signal"`
	// Deadline is how long it may wait, from 1m to 24h.
	Deadline Duration `json:"deadline"`
}

// WorkSignal is where work is read from: a preset, or a query of your own.
//
// +kubebuilder:validation:XValidation:rule="has(self.preset) != has(self.query)",message="set exactly one of preset and query"
type WorkSignal struct {
	// Preset is the name of a query that forewarm knows, for example gateway/arrivals-deferrable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Preset string `json:"preset,omitempty"`
	// Query is PromQL that yields one series: all of the work that arrives. No series means none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8192
	// +optional
	Query string `json:"query,omitempty"`
}

// Duration is a Prometheus duration: 30s, 5m, 1h30m, 14d.
//
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$`
type Duration string

// Expose is a metric and the labels that an HPA of the Forecast's namespace asks for: its metric.name and its
// metric.selector.matchLabels.
type Expose struct {
	// Metric is the name of the External metric. It may have capitals, underscores and colons. A Forecast of that name comes first.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_:][A-Za-z0-9_:.-]*$`
	Metric string `json:"metric"`
	// MatchLabels are the labels of the HPA's selector, no more and no fewer. In addition to them, the HPA may select another view
	// (badHours, horizon, late, model, quantile, serve). Default none.
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="['badHours', 'horizon', 'late', 'model', 'quantile', 'serve'].all(view, !(view in self))",message="badHours, horizon, late, model, quantile and serve ask for another view of a Forecast: remove them"
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

// TargetRef names the workload, in the Forecast's namespace.
type TargetRef struct {
	// APIVersion of the workload. Default apps/v1.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind of the workload, for example Deployment.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// Name of the workload.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Signal is where the demand is read from: a preset, or a query of your own.
//
// +kubebuilder:validation:XValidation:rule="has(self.preset) != has(self.query)",message="set exactly one of preset and query"
type Signal struct {
	// Preset is the name of a query that forewarm knows, for example vllm/inflight; `forewarm presets` lists
	// them.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Preset string `json:"preset,omitempty"`
	// Query is PromQL that yields one series: the total demand.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8192
	// +optional
	Query string `json:"query,omitempty"`
	// Saturated is PromQL that yields one series, above 0 while the service is at its limit, for example its queue:
	// max(vllm:num_requests_waiting). The demand counts as a lower bound then. It is for signals that stop growing when
	// the service is full (throughput, busy GPUs). Arrivals, and requests that run and wait, do not need it. No series means not
	// saturated.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8192
	// +optional
	Saturated string `json:"saturated,omitempty"`
	// Delay is how much later than it happens a sample is complete in the source, beyond a step: a remote write or a recording
	// rule may lag. Newer samples are not read, and forecasts look ahead by so much more. Default 0s, at most 30m. Samples that
	// come late now and then need none: the newest minutes are read again.
	// +optional
	Delay Duration `json:"delay,omitempty"`
	// Source is the name of the source of history to read from, one that the operator granted to the namespace. Default: the
	// first one that was granted; the only one, where Forewarm has one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Source string `json:"source,omitempty"`
}

// Objective is how much demand may be late, or how much may arrive in bad hours.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.late) && has(self.badHours))",message="late and badHours exclude each other, keep one"
type Objective struct {
	// Late is the share of demand that may wait longer than Wait, as a percentage between 0% and 100%. BadHours must be empty then.
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+)?%$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]+([.][0-9]+)?%$') || (double(self.replace('%', '')) > 0.0 && double(self.replace('%', '')) < 100.0)",message="write a percentage above 0% and below 100%"
	// +optional
	Late string `json:"late,omitempty"`
	// BadHours is the share of the demand of the period that may arrive in bad hours, as a percentage between 0% and 100%.
	// Default 1%, without Late. Bad hours are UTC clock hours in which more than a tenth of the demand waited longer than Wait.
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+)?%$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]+([.][0-9]+)?%$') || (double(self.replace('%', '')) > 0.0 && double(self.replace('%', '')) < 100.0)",message="write a percentage above 0% and below 100%"
	// +optional
	BadHours string `json:"badHours,omitempty"`
	// Wait is the time beyond which demand counts as late. Default 30s.
	// +optional
	Wait Duration `json:"wait,omitempty"`
	// Over is the rolling period of the lateness budget: Late times the demand of the period may be late, or BadHours times the demand
	// of the period may arrive in bad hours. Whole hours, at most the history. Default 14d, and 7d with Late, or the history where
	// that is shorter. With BadHours less than 7d is too short: one bad hour spends the budget.
	// +optional
	Over Duration `json:"over,omitempty"`
	// Measured is the lateness that users see, shown beside the simulated one, which the headroom is found by. Nothing that is served
	// depends on it. It is read from the source of signal.
	// +optional
	Measured *MeasuredLateness `json:"measured,omitempty"`
}

// MeasuredLateness is the share of requests that waited longer than the objective's wait: a preset, or a query of your own.
//
// +kubebuilder:validation:XValidation:rule="has(self.preset) != has(self.query)",message="set exactly one of preset and query"
type MeasuredLateness struct {
	// Preset is the name of a query that forewarm knows, for example vllm/queue-time.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Preset string `json:"preset,omitempty"`
	// Query is PromQL that yields one series: the share of the requests of the last five minutes that waited longer than Wait, from
	// 0 to 1, and NaN or none without requests.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8192
	// +optional
	Query string `json:"query,omitempty"`
}

// LeadTimeMode is where the lead time comes from.
//
// +kubebuilder:validation:Enum=Auto;Fixed
type LeadTimeMode string

const (
	// LeadTimeAuto measures the lead time on the workload's own pods; Fallback is used until there are enough of them. While a
	// WarmPool is ready for the Forecast, only the pods that found a node are measured.
	LeadTimeAuto LeadTimeMode = "Auto"
	// LeadTimeFixed is the lead time that Duration gives.
	LeadTimeFixed LeadTimeMode = "Fixed"
)

// LeadTime is the time from "more replicas" to "ready".
//
// +kubebuilder:validation:XValidation:rule="(has(self.mode) && self.mode == 'Fixed') == has(self.duration)",message="mode Fixed takes a duration, and only mode Fixed does"
// +kubebuilder:validation:XValidation:rule="!(has(self.mode) && self.mode == 'Fixed' && has(self.fallback))",message="fallback is for mode Auto only"
type LeadTime struct {
	// Mode is Auto (measured) or Fixed. Default Auto.
	// +optional
	Mode LeadTimeMode `json:"mode,omitempty"`
	// Fallback is the lead time in mode Auto until enough starts are measured. Default 5m.
	// +optional
	Fallback Duration `json:"fallback,omitempty"`
	// Duration is the lead time in mode Fixed.
	// +optional
	Duration Duration `json:"duration,omitempty"`
}

// ServeMode is how the served value relates to the observed demand.
//
// +kubebuilder:validation:Enum=Floor;Forecast;Shadow
type ServeMode string

const (
	// ServeFloor serves the forecast, never below the observed demand. Forewarm can only add capacity.
	ServeFloor ServeMode = "Floor"
	// ServeForecast serves the forecast as it is, below the observed demand where the load is about to fall.
	ServeForecast ServeMode = "Forecast"
	// ServeShadow serves the observed demand; the forecast is only recorded.
	ServeShadow ServeMode = "Shadow"
)

// Scaling is how the demand becomes replicas.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas must not exceed maxReplicas"
// +kubebuilder:validation:XValidation:rule="has(self.target) || has(self.before)",message="write target, the demand that one replica sustains"
type Scaling struct {
	// Target is the demand that one replica sustains at full capacity, in the signal's unit: the HPA's averageValue. Optional beside
	// an HPA or a ScaledObject, where before stands.
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : (type(self) == string && size(self) <= 32 && !self.matches('[eE][+-]?[0-9]{3}') && isQuantity(self) && quantity(self).isGreaterThan(quantity('0')))",message="write a quantity above 0"
	// +optional
	Target resource.Quantity `json:"target,omitzero"`
	// MinReplicas is the least that the workload is scaled to. Default 1.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	// MaxReplicas is the most that the workload is scaled to. Default: no bound.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
	// Before is how the workload was scaled before Forewarm, to compare with, and for a pause. It counts beside an HPA or a ScaledObject, too.
	// Default: an HPA on the observed demand with 70% of what a replica sustains as its target.
	// +optional
	Before *BeforeScaling `json:"before,omitempty"`
}

// BeforeScaling is an HPA on the observed demand, with the default scale-down.
type BeforeScaling struct {
	// Target is the demand for each replica, in the signal's unit: its averageValue.
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : (type(self) == string && size(self) <= 32 && !self.matches('[eE][+-]?[0-9]{3}') && isQuantity(self) && quantity(self).isGreaterThan(quantity('0')))",message="write a quantity above 0"
	Target resource.Quantity `json:"target"`
	// MinReplicas is its least number of replicas. Default: that of the autoscaler now.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MinReplicas int32 `json:"minReplicas,omitempty"`
}
