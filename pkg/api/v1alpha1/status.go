package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ForecastStatus is the state of the Forecast when Forewarm last wrote it. It stays readable while Forewarm is down.
// `kubectl get outlooks` shows the complete forecast. Quantities are rounded to make them easier to read. The metric
// has all digits.
type ForecastStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// State is the state of the Forecast in one word: Ready, Warming, FallingBack, Stale, Pending or Invalid.
	// +optional
	State string `json:"state,omitempty"`

	// Conditions says what works and what does not, with the reason and what to do. Ready is True while Forewarm
	// serves the value that the spec requests.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Observed is the current demand.
	// +optional
	Observed string `json:"observed,omitempty"`

	// Served is the value that the metric returns to autoscalers. Empty while Forewarm serves no value.
	// +optional
	Served string `json:"served,omitempty"`

	// Unit is the unit of observed and served. Empty if the unit is unknown.
	// +optional
	Unit string `json:"unit,omitempty"`

	// Model is the forecast model that is selected.
	// +optional
	Model string `json:"model,omitempty"`

	// ModelReason says why this model is selected.
	// +optional
	ModelReason string `json:"modelReason,omitempty"`

	// LeadTime is the lead time that Forewarm currently uses: the time from "more replicas" to "ready".
	// +optional
	LeadTime string `json:"leadTime,omitempty"`

	// LeadTimeSource says where the lead time comes from, for example from how many measured starts.
	// +optional
	LeadTimeSource string `json:"leadTimeSource,omitempty"`

	// Starts records how long the pods of the workload took to start. Forewarm derives the lead time from it.
	// +optional
	Starts *Starts `json:"starts,omitempty"`

	// ScaledToZero records when the workload had zero replicas. If the signal has no samples at such a time, Forewarm
	// treats this as a demand of 0 and not as missing data.
	// +optional
	ScaledToZero *ScaledToZero `json:"scaledToZero,omitempty"`

	// ServedRecord records hour by hour how much demand was late with the served values, and how many replica-hours
	// they used.
	// +optional
	ServedRecord *ServedRecord `json:"servedRecord,omitempty"`

	// Window is the lead window: how far the served value looks ahead.
	// +optional
	Window string `json:"window,omitempty"`

	// Skill compares the selected model with simply repeating the last value: it is how much lower the pinball loss of
	// the model is, in percent. Above 0, the model forecasts better than the last value.
	// +optional
	Skill string `json:"skill,omitempty"`

	// Coverage is the share of past lead windows in which the demand stayed at or below the quantile that the selected
	// model forecast, in percent. Compare it with spec.quantile, and with an objective with 95 %.
	// +optional
	Coverage string `json:"coverage,omitempty"`

	// Objective says whether the objective is met. Empty if there is no objective, or if the objective is not
	// calibrated. The condition ObjectiveMet has the numbers.
	// +optional
	Objective *ObjectiveStatus `json:"objective,omitempty"`

	// SampleTime is the time of the newest sample when Forewarm wrote this status.
	// +optional
	SampleTime *metav1.Time `json:"sampleTime,omitempty"`
}

// ObjectiveStatus says whether the objective is met. Forewarm measures this with a simulated autoscaler on the
// observed demand.
type ObjectiveStatus struct {
	// Asked is the objective in a few words, for example "1% late over 7 days, wait 30s", "1% in bad hours over 14
	// days, wait 30s" or "late demand costs 20×".
	// +optional
	Asked string `json:"asked,omitempty"`
	// Headline says in one sentence what Forewarm gained or lost over the budget's period, compared with the previous
	// HPA at equal reliability.
	// +optional
	Headline string `json:"headline,omitempty"`
	// Verdict says in one word whether the objective is met: Met, Learning, Bounded, Overspent, AtMaxReplicas or
	// FasterThanLead.
	// +optional
	Verdict string `json:"verdict,omitempty"`
	// BadHours says in how many hours of the period more than a tenth of the demand was late, and lists the worst of
	// these hours, for example "2 of 336 hours were bad, with 0.9% of the demand: Mon 16 Nov 07:00 to 08:00 UTC (43%
	// late)". For hours in which Forewarm did not serve, Forewarm simulates what it would have served.
	// +optional
	BadHours string `json:"badHours,omitempty"`
	// Late is the share of the demand that was late over the budget's period, in percent.
	// +optional
	Late string `json:"late,omitempty"`
	// Measured is the share of the requests that were late over the budget's period according to the query in
	// objective.measured, in percent.
	// +optional
	Measured string `json:"measured,omitempty"`
	// BudgetSpent is the share of the lateness budget that is used up, in percent. It is at most 100% while the
	// objective is met.
	// +optional
	BudgetSpent string `json:"budgetSpent,omitempty"`
	// BurnRate says how fast the lateness budget was used up in the last hour: it is the lateness of that hour as a
	// multiple of the objective. At a constant 1, the budget is used up exactly at the end of the period.
	// +optional
	BurnRate string `json:"burnRate,omitempty"`
	// RelativeCost says how much capacity was used over the budget's period: the replica-hours, divided by the
	// replica-hours that the demand needs at full capacity. 1 is the lowest possible value.
	// +optional
	RelativeCost string `json:"relativeCost,omitempty"`
	// Headroom is the headroom multiplier: how far the served value is above the median of the window peak, as a
	// multiple of the spread of the window peak.
	// +optional
	Headroom string `json:"headroom,omitempty"`
	// Candidate is the forecast method that Forewarm currently uses for the window peak.
	// +optional
	Candidate string `json:"candidate,omitempty"`
	// CandidateReason says why this candidate is selected.
	// +optional
	CandidateReason string `json:"candidateReason,omitempty"`
}

// ServedRecord records the hours in which Forewarm served a value: how much demand was late with the served values,
// and how many replica-hours they used. The history of the demand does not contain this. One replica of Forewarm
// writes the record, and all replicas read it. Without the record, Forewarm simulates these hours from the history
// and says so. The record takes 8 bytes an hour, or 3 KiB for two weeks.
type ServedRecord struct {
	// Through is the end of the newest recorded hour.
	Through metav1.Time `json:"through"`
	// Wait is how long demand could wait before it counted as late. Forewarm ignores hours that were recorded with
	// another wait.
	// +kubebuilder:validation:MaxLength=64
	Wait string `json:"wait"`
	// Capacity is the demand that one replica sustained, in the unit of the demand. Forewarm ignores hours that were
	// recorded with another capacity.
	// +kubebuilder:validation:MaxLength=64
	Capacity string `json:"capacity"`
	// Hours contains six bytes for each hour in base64, oldest hour first: the demand and the replica-hours as
	// half-precision floats, then flags (served, judged, at maxReplicas) and the late share of the demand in 13 bits.
	// +kubebuilder:validation:MaxLength=131072
	Hours string `json:"hours"`
}

// ScaledToZero records when a workload had zero replicas. One replica of Forewarm writes the record, and all replicas
// read it. Each time takes 22 bytes, and the record takes at most 16 KiB.
type ScaledToZero struct {
	// Workload is the workload that was observed, for example Deployment.apps/llama. Forewarm ignores the times if
	// the Forecast now has another workload.
	// +kubebuilder:validation:MaxLength=1024
	Workload string `json:"workload"`
	// Changes lists when the workload was scaled to zero (first, third, and so on) and when it left zero again
	// (second, fourth, and so on), in seconds since 1970, oldest first. The last time can be in the future: unless
	// Forewarm observes something else, the workload counts as scaled to zero until then.
	// +kubebuilder:validation:MaxItems=1400
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=253402300799
	// +listType=atomic
	// +optional
	Changes []int64 `json:"changes,omitempty"`
}

// Starts records how long the pods of a workload took to start, and the lead times that Forewarm derives from this.
// The history of the demand does not contain it. The record consists of histograms in which older starts weigh less.
// One replica of Forewarm writes it, and all replicas read it. Without it, Forewarm starts measuring from scratch. It
// usually takes 1 to 2 KiB, and at most 13 KiB.
type Starts struct {
	// Workload is the workload whose starts were measured, for example Deployment.apps/llama. Forewarm ignores the
	// starts of another workload.
	// +kubebuilder:validation:MaxLength=1024
	Workload string `json:"workload"`

	// LeadTime is derived from all starts without a warm pool, that is from placed and waited together.
	// +optional
	LeadTime MeasuredLeadTime `json:"leadTime,omitzero"`
	// PlacedLeadTime is derived from starts on existing nodes. Forewarm uses it while a warm pool is ready for the
	// Forecast.
	// +optional
	PlacedLeadTime MeasuredLeadTime `json:"placedLeadTime,omitzero"`
	// WaitedLeadTime is derived from starts that waited for a node. Forewarm uses it to size warm pools.
	// +optional
	WaitedLeadTime MeasuredLeadTime `json:"waitedLeadTime,omitzero"`

	// CountedThrough is when the newest counted start became ready. Starts up to this time are not counted again.
	// +optional
	CountedThrough metav1.Time `json:"countedThrough,omitzero"`
	// ReferenceTimestamp is the time that the weights of the histograms refer to. A start that became ready at this
	// time weighs 1024, and a start that became ready 48 hours later weighs twice that. Forewarm moves this time
	// forward by 48 hours at a time and halves all weights when it does.
	// +optional
	ReferenceTimestamp metav1.Time `json:"referenceTimestamp,omitzero"`

	// Placed contains the starts on existing nodes without a warm pool.
	// +optional
	Placed StartHistogram `json:"placed,omitzero"`
	// Held contains the starts on existing nodes that a warm pool held.
	// +optional
	Held StartHistogram `json:"held,omitzero"`
	// Waited contains the starts that waited for a node.
	// +optional
	Waited StartHistogram `json:"waited,omitzero"`
}

// MeasuredLeadTime is a measured lead time. All replicas of Forewarm change to a new value at the same time. Forewarm
// announces the change one minute in advance.
type MeasuredLeadTime struct {
	// Seconds is the lead time that is used from the time in since on.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	Seconds int64 `json:"seconds,omitempty"`
	// BeforeSeconds is the lead time that is used until the time in since. Empty if there was no lead time before.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	BeforeSeconds int64 `json:"beforeSeconds,omitempty"`
	// MedianSeconds is the median start time that is used from the time in since on.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	MedianSeconds int64 `json:"medianSeconds,omitempty"`
	// BeforeMedianSeconds is the median start time that is used until the time in since. Empty if there was none
	// before.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	BeforeMedianSeconds int64 `json:"beforeMedianSeconds,omitempty"`
	// Since is when the lead time changed or will change.
	// +optional
	Since metav1.Time `json:"since,omitzero"`
}

// StartHistogram says how long a type of start took.
type StartHistogram struct {
	// Count is how many starts of this type Forewarm has ever counted.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=281474976710656
	// +optional
	Count int64 `json:"count,omitempty"`
	// BucketWeights are the weights of the starts by their duration. Bucket n contains the starts that took more than
	// 1.05 to the power of n-1 seconds, and at most 1.05 to the power of n seconds. Bucket 0 contains all starts of
	// up to one second, and bucket 183 contains all starts of more than 1h55m. Empty buckets are omitted.
	// +kubebuilder:validation:MaxProperties=184
	// +mapType=atomic
	// +optional
	BucketWeights map[string]BucketWeight `json:"bucketWeights,omitempty"`
}

// BucketWeight is the weight of the starts in a bucket. Older starts weigh less.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=281474976710656
type BucketWeight int64
