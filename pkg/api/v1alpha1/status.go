package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ForecastStatus is the state of the Forecast at the time when Forewarm last wrote this status. It stays readable while
// Forewarm is down. `kubectl get outlooks` shows the complete forecast. Numbers in the status are rounded for
// readability, and the metric has all digits.
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

	// Observed is the current demand, in the unit of the field unit.
	// +optional
	Observed string `json:"observed,omitempty"`

	// Served is the value that the metric returns to autoscalers, in the unit of the field unit. Empty while Forewarm
	// serves no value.
	// +optional
	Served string `json:"served,omitempty"`

	// Unit is the unit of observed and served. Empty if the unit is unknown.
	// +optional
	Unit string `json:"unit,omitempty"`

	// Model is the forecast model that Forewarm currently uses.
	// +optional
	Model string `json:"model,omitempty"`

	// ModelReason says why Forewarm selected this model.
	// +optional
	ModelReason string `json:"modelReason,omitempty"`

	// LeadTime is the lead time that Forewarm currently uses: the time from a request for more replicas until they are
	// ready.
	// +optional
	LeadTime string `json:"leadTime,omitempty"`

	// LeadTimeSource says where the lead time comes from, and for a measured lead time, how many starts were measured.
	// +optional
	LeadTimeSource string `json:"leadTimeSource,omitempty"`

	// Starts records how long the pods of the workload took to start. Forewarm derives the lead time from it.
	// +optional
	Starts *Starts `json:"starts,omitempty"`

	// ScaledToZero records when the workload had zero replicas. If the signal has no samples at such a time, Forewarm
	// treats this as a demand of 0 and not as missing data.
	// +optional
	ScaledToZero *ScaledToZero `json:"scaledToZero,omitempty"`

	// ServedRecord records, hour by hour, how much demand was late with the values that Forewarm served, and how many
	// replica-hours a simulated autoscaler used with them.
	// +optional
	ServedRecord *ServedRecord `json:"servedRecord,omitempty"`

	// Window is the lead window: how far the served value looks ahead.
	// +optional
	Window string `json:"window,omitempty"`

	// Skill compares the selected model with a forecast that simply repeats the last value. It says by how many percent
	// the pinball loss of the model is lower. If it is above 0, the model forecasts better than the last value.
	// +optional
	Skill string `json:"skill,omitempty"`

	// Coverage is the share of past lead windows in which the demand stayed at or below the quantile that the selected
	// model forecast, in percent. Compare it with spec.quantile, and with an objective with 95 %.
	// +optional
	Coverage string `json:"coverage,omitempty"`

	// Objective says whether the objective is met. Empty if there is no objective, or if the objective is not
	// calibrated. The message of the condition ObjectiveMet has the numbers.
	// +optional
	Objective *ObjectiveStatus `json:"objective,omitempty"`

	// SampleTime is the time of the newest sample that Forewarm had read when it wrote this status.
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
	// Headline says in one sentence how much Forewarm saved or lost over the budget's period, compared with the
	// previous HPA at equal reliability.
	// +optional
	Headline string `json:"headline,omitempty"`
	// Verdict says in one word whether the objective is met: Met, Learning, Bounded, Overspent, AtMaxReplicas or
	// FasterThanLead.
	// +optional
	Verdict string `json:"verdict,omitempty"`
	// BadHours says how many hours of the budget's period were bad, that is, more than a tenth of the demand was late.
	// It lists the worst of these hours, for example "2 of 336 hours were bad, with 0.9% of the demand: Mon 16 Nov
	// 07:00 to 08:00 UTC (43% late)". For hours in which Forewarm served no value, it simulates what it would have
	// served.
	// +optional
	BadHours string `json:"badHours,omitempty"`
	// Late is the share of the demand that was late over the budget's period, in percent.
	// +optional
	Late string `json:"late,omitempty"`
	// Measured is the share of the requests that were late over the budget's period, in percent, as measured by the
	// query in objective.measured.
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
	// Headroom is the headroom multiplier. It says how far the served value is above the median forecast of the window
	// peak, as a multiple of the spread of that forecast.
	// +optional
	Headroom string `json:"headroom,omitempty"`
	// Candidate is the forecast method that Forewarm currently uses for the window peak.
	// +optional
	Candidate string `json:"candidate,omitempty"`
	// CandidateReason says why Forewarm selected this candidate.
	// +optional
	CandidateReason string `json:"candidateReason,omitempty"`
}

// ServedRecord records the hours in which Forewarm served a value: how much demand was late with the served values, and
// how many replica-hours a simulated autoscaler used with them. This cannot be derived from the history of the demand.
// One replica of Forewarm writes the record, and all replicas read it. Without the record, Forewarm simulates these
// hours from the history and says so. The record takes 8 bytes an hour, or 3 KiB for two weeks.
type ServedRecord struct {
	// Through is the end of the newest recorded hour.
	Through metav1.Time `json:"through"`
	// Wait is how long demand could wait before it counted as late when the record was written. If the objective now
	// has a different wait, Forewarm ignores the record.
	// +kubebuilder:validation:MaxLength=64
	Wait string `json:"wait"`
	// Capacity is the demand that one replica sustained when the record was written, in the unit of the demand. If a
	// replica now sustains a different demand, Forewarm ignores the record.
	// +kubebuilder:validation:MaxLength=64
	Capacity string `json:"capacity"`
	// Hours contains six bytes for each hour in base64, oldest hour first: the demand and the replica-hours as
	// half-precision floats, then flags (served, judged, at maxReplicas) and the late share of the demand in 13 bits.
	// +kubebuilder:validation:MaxLength=131072
	Hours string `json:"hours"`
}

// ScaledToZero records when a workload had zero replicas. One replica of Forewarm writes the record, and all replicas
// read it. Each period with zero replicas takes 22 bytes, and the whole record takes at most 16 KiB.
type ScaledToZero struct {
	// Workload is the workload that was observed, for example Deployment.apps/llama. If the Forecast now has a
	// different workload, Forewarm ignores the record.
	// +kubebuilder:validation:MaxLength=1024
	Workload string `json:"workload"`
	// Changes lists times in seconds since 1970, oldest first. At the first, third, fifth time and so on, the workload
	// was scaled to zero. At the second, fourth, sixth time and so on, it was scaled up from zero again. The last time
	// can be in the future. In that case, Forewarm assumes that the workload stays at zero until then, unless Forewarm
	// observes something else.
	// +kubebuilder:validation:MaxItems=1400
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=253402300799
	// +listType=atomic
	// +optional
	Changes []int64 `json:"changes,omitempty"`
}

// Starts records how long the pods of a workload took to start, and the lead times that Forewarm derives from this.
// This cannot be derived from the history of the demand. The record consists of histograms in which older starts weigh
// less. One replica of Forewarm writes the record, and all replicas read it. Without the record, Forewarm starts
// measuring from scratch. The record usually takes 1 to 2 KiB, and at most 13 KiB.
type Starts struct {
	// Workload is the workload whose starts were measured, for example Deployment.apps/llama. If the Forecast now has a
	// different workload, Forewarm ignores the record.
	// +kubebuilder:validation:MaxLength=1024
	Workload string `json:"workload"`

	// LeadTime is the lead time that Forewarm derives from all starts without a warm pool, that is, from placed and
	// waited together.
	// +optional
	LeadTime MeasuredLeadTime `json:"leadTime,omitzero"`
	// PlacedLeadTime is the lead time that Forewarm derives from starts on existing nodes. Forewarm uses it while a
	// warm pool is ready for the Forecast.
	// +optional
	PlacedLeadTime MeasuredLeadTime `json:"placedLeadTime,omitzero"`
	// WaitedLeadTime is the lead time that Forewarm derives from starts that waited for a node. Forewarm uses it to
	// size warm pools.
	// +optional
	WaitedLeadTime MeasuredLeadTime `json:"waitedLeadTime,omitzero"`

	// CountedThrough is when the newest counted pod became ready. Pods that became ready up to this time are not
	// counted again.
	// +optional
	CountedThrough metav1.Time `json:"countedThrough,omitzero"`
	// ReferenceTimestamp is the time that the weights of the histograms refer to. A start that ended at this time has a
	// weight of 1024, and a start that ended 48 hours later has twice that weight. Forewarm moves this time forward in
	// increments of 48 hours, and halves all weights each time.
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

// MeasuredLeadTime is a measured lead time, and the previous one. All replicas of Forewarm switch to a new lead time at
// the same moment, so Forewarm announces each change here one minute in advance.
type MeasuredLeadTime struct {
	// Seconds is the lead time, in seconds, that Forewarm uses after the time in since.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	Seconds int64 `json:"seconds,omitempty"`
	// BeforeSeconds is the lead time, in seconds, that Forewarm uses before the time in since. Empty if there was no
	// lead time before.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	BeforeSeconds int64 `json:"beforeSeconds,omitempty"`
	// MedianSeconds is the median duration of the starts, in seconds, that Forewarm uses after the time in since.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	MedianSeconds int64 `json:"medianSeconds,omitempty"`
	// BeforeMedianSeconds is the median duration of the starts, in seconds, that Forewarm uses before the time in
	// since. Empty if there was none before.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7200
	// +optional
	BeforeMedianSeconds int64 `json:"beforeMedianSeconds,omitempty"`
	// Since is the time at which the lead time changed or will change.
	// +optional
	Since metav1.Time `json:"since,omitzero"`
}

// StartHistogram says how long starts of one type took.
type StartHistogram struct {
	// Count is how many starts of this type Forewarm has ever counted.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=281474976710656
	// +optional
	Count int64 `json:"count,omitempty"`
	// BucketWeights contains the total weight of the starts in each bucket. A bucket is a range of durations. Bucket n
	// contains the starts that took more than 1.05^(n-1) seconds and at most 1.05^n seconds. Bucket 0 contains all
	// starts of up to one second, and bucket 183 contains all starts of more than 1h55m. Empty buckets are omitted.
	// +kubebuilder:validation:MaxProperties=184
	// +mapType=atomic
	// +optional
	BucketWeights map[string]BucketWeight `json:"bucketWeights,omitempty"`
}

// BucketWeight is the total weight of the starts in a bucket. Older starts weigh less.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=281474976710656
type BucketWeight int64
