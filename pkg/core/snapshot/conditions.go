package snapshot

import "github.com/forewarm/forewarm/pkg/core/decide/objective"

// The states and conditions of a Forecast, and the reasons of the conditions. docs/reference/conditions.md is generated from
// these comments. They are here and not in pkg/api, because the core imports nothing outside of it.

// State is the health of a Forecast in one word.
type State string

// Reasons of the condition Ready. These are the states of a Forecast.
const (
	// Ready (True): the value is served as asked.
	Ready State = "Ready"
	// Warming (True): a value is served, on less history than a season (a day). It gains nothing yet over a reactive
	// autoscaler. The message has the time at which this ends.
	//
	// Fix: wait.
	Warming State = "Warming"
	// FallingBack (False): the newest samples are missing, so the running maximum of the observed demand is served.
	//
	// Fix: see the condition SourceHealthy, and docs/concepts.md#the-fallback-chain.
	FallingBack State = "FallingBack"
	// Stale (False): the data is too old, so nothing is served. The HPA keeps its replicas.
	//
	// Fix: see the condition SourceHealthy.
	Stale State = "Stale"
	// Pending (False): no history has been read yet.
	//
	// Fix: wait. If it lasts, see the condition SourceHealthy.
	Pending State = "Pending"
	// Invalid (False): the object has errors, so nothing is served. The message lists all of them. Or its query returns a counter:
	// for a day the value has hardly ever fallen.
	//
	// Fix: correct the object. Of a counter write the rate: sum(rate(…[2m])).
	Invalid State = "Invalid"
)

// Serves reports whether a value is served in this state.
func (s State) Serves() bool { return s == Ready || s == Warming || s == FallingBack }

// Condition is one fact about a Forecast that its user should know, in Kubernetes' form. Type and Reason are CamelCase.
type Condition struct {
	Type    string
	True    bool
	Reason  string
	Message string
}

// Conditions of a Forecast.
const (
	// ConditionReady is True while a value is served as asked. The reason is the state of the Forecast.
	ConditionReady = "Ready"
	// ConditionSource is True while the newest query was answered.
	ConditionSource = "SourceHealthy"
	// ConditionObjective is True while the objective is met. The reason is the verdict, see docs/objectives.md#verdicts. The
	// message has the numbers.
	ConditionObjective = "ObjectiveMet"
	// ConditionUncalibrated is present, and True, while an objective cannot be calibrated.
	ConditionUncalibrated = "Uncalibrated"
	// ConditionSaturated is present, and True, while the demand is known to be at least the observed one. It is False, with a
	// reason of SourceHealthy, while the query of signal.saturated fails.
	ConditionSaturated = "Saturated"
	// ConditionData is present, and False, while some samples do not count as they are.
	ConditionData = "DataClean"
	// ConditionSignal is present, and False, while the signal is hardly the total demand of the workload, does not fit the target,
	// or while the measured lateness differs from the simulated one.
	ConditionSignal = "SignalPlausible"
	// ConditionScaledToZero is present, and True, while the workload is scaled to zero and its signal is absent.
	ConditionScaledToZero = "ScaledToZero"
	// ConditionPaused is present while the annotation forewarm.dev/pause is true or wrong, and True while it pauses the Forecast
	// (docs/rollout.md). The message has what is served instead of the forecast.
	ConditionPaused = "Paused"
	// ConditionExposed is present where the Forecast has spec.expose, and True while External metrics are answered under that alias.
	ConditionExposed = "Exposed"
	// ConditionReachable is True while an HPA can reach the metric. The message names the owners of the API groups.
	ConditionReachable = "Reachable"
)

// Reasons of the condition SourceHealthy.
const (
	// ReasonAnswering (True): the newest query was answered.
	ReasonAnswering = "Answering"
	// ReasonPending (False): no query was answered yet.
	//
	// Fix: wait.
	ReasonPending = "Pending"
	// ReasonNoSeries (False): the query returns no series.
	//
	// Fix: check the query. For a preset, check its parts, see docs/signals.md#presets.
	ReasonNoSeries = "NoSeries"
	// ReasonSeveralSeries (False): the query returns more than one series.
	//
	// Fix: aggregate it, for example with sum().
	ReasonSeveralSeries = "SeveralSeries"
	// ReasonQueryRefused (False): the source or the tenant check refuses the query.
	//
	// Fix: correct the query. The message has the cause.
	ReasonQueryRefused = "QueryRefused"
	// ReasonAnswerTooLarge (False): the answer is larger than Forewarm reads.
	//
	// Fix: aggregate the query.
	ReasonAnswerTooLarge = "AnswerTooLarge"
	// ReasonUnavailable (False): the source does not answer, or the disk of the embedded engine is full.
	//
	// Fix: check the source.
	ReasonUnavailable = "Unavailable"
	// ReasonQueryFailed (False): the query failed for another cause.
	//
	// Fix: the message has the error.
	ReasonQueryFailed = "QueryFailed"
	// ReasonClockBehind (False): the newest sample is ahead of this machine's clock.
	//
	// Fix: set the clock.
	ReasonClockBehind = "ClockBehind"
)

// Reasons of the condition ObjectiveMet. These are the verdicts.
const (
	// ReasonMet (True): no more demand was late than the lateness budget allows. With costRatio, the cheapest headroom is
	// served. The budget is that of a period, not a limit for each day.
	ReasonMet = string(objective.Met)
	// ReasonLearning (False): less than a day was observed. The headroom is mostly what other workloads needed.
	//
	// Fix: wait.
	ReasonLearning = string(objective.Learning)
	// ReasonBounded (False): the value that the objective needs is above the bound (docs/concepts.md#the-bound). The bound is
	// served, and it is unknown whether the objective is met.
	//
	// Fix: wait until the demand is credible.
	ReasonBounded = string(objective.Bounded)
	// ReasonOverspent (False): more demand was late over the budget's period than the objective allows. More headroom is served
	// until that is made up for.
	//
	// Fix: wait. If it lasts, allow more late demand, or shorten the start.
	ReasonOverspent = string(objective.Overspent)
	// ReasonAtMaxReplicas (False): the budget is overspent, mostly while the autoscaler was at its maximum (maxReplicas). The message has the number of replicas that are needed.
	//
	// Fix: raise maxReplicas, or allow more late demand.
	ReasonAtMaxReplicas = string(objective.AtMaxReplicas)
	// ReasonFasterThanLead (False): the budget is overspent, as bursts rise faster than replicas start.
	//
	// Fix: shorten the start (a warm node, the image, the weights), or allow more late demand.
	ReasonFasterThanLead = string(objective.FasterThanLead)
)

// Reasons of the condition Uncalibrated.
const (
	// ReasonTargetUnknown (True): it is unknown what a replica sustains, so a quantile is served instead of the objective.
	//
	// Fix: let an HPA or a ScaledObject refer to the Forecast, or set spec.scaling.target. See
	// docs/objectives.md#what-a-replica-sustains.
	ReasonTargetUnknown = "TargetUnknown"
)

// Reasons of the condition Saturated.
const (
	// ReasonCensored (True): the service is saturated, so the demand is at least the observed one.
	//
	// Fix: raise maxReplicas, or use a signal that does not saturate.
	ReasonCensored = "Censored"
)

// Reasons of the condition DataClean.
const (
	// ReasonSamplesDropped (False): samples that cannot be demand (negative, infinite) were dropped.
	//
	// Fix: correct the query.
	ReasonSamplesDropped = "SamplesDropped"
	// ReasonSuspect (False): the demand is far above all that its history has shown. It may be an error of the measurement.
	// It counts once it is corroborated, see docs/concepts.md#the-bound.
	//
	// Fix: check the scrape. If the demand is real, wait.
	ReasonSuspect = "SuspectSample"
	// ReasonOutageSuspected (False): the demand fell to nothing at once. The demand before counts for 10 minutes, and then half
	// as much every hour, for six hours at most.
	//
	// Fix: check the workload, its scrape and the query. If the demand is gone, nothing needs to be done.
	ReasonOutageSuspected = "OutageSuspected"
	// ReasonIncomplete (False): the source still adds to the newest samples, and they are below those before. What was observed
	// before counts until they are complete.
	//
	// Fix: find what is late, a remote write or a recording rule. If the source always lags, set signal.delay.
	ReasonIncomplete = "Incomplete"
)

// Reasons of the condition SignalPlausible.
const (
	// ReasonAverage (False): the query is an average. An autoscaler needs the total: the average falls when it adds replicas.
	//
	// Fix: write sum() instead of avg().
	ReasonAverage = "Average"
	// ReasonFrozen (False): for an hour the value has been the same, and it changed all the time before.
	//
	// Fix: check the exporter, the recording rule or the federation behind the query.
	ReasonFrozen = "Frozen"
	// ReasonSilentReplicas (False): ready replicas report nothing to the preset, so their demand is missing.
	//
	// Fix: check that new pods are scraped. The preset is docs/signals.md#presets.
	ReasonSilentReplicas = "SilentReplicas"
	// ReasonTargetTooHigh (False): for half an hour replicas were saturated at less than a third of the autoscaler's target.
	//
	// Fix: measure what a replica sustains (forewarm capacity), and correct the target, or the unit of the query.
	ReasonTargetTooHigh = "TargetTooHigh"
	// ReasonTargetTooLow (False): for half an hour replicas carried three times the autoscaler's target and were not saturated.
	//
	// Fix: measure what a replica sustains (forewarm capacity), and correct the target, or the unit of the query.
	ReasonTargetTooLow = "TargetTooLow"
	// ReasonLatenessDiffers (False): for a day and a half three times as much was late as in the simulation, or a third. Nothing is
	// changed by it.
	//
	// Fix: the message has the likely cause: what a replica sustains (the target), what the query measures, or the signal. See
	// docs/objectives.md#measured-beside-simulated.
	ReasonLatenessDiffers = "LatenessDiffers"
	// ReasonMeasuredUnusable (False): the query of objective.measured fails, or returns no share of requests.
	//
	// Fix: the message has the cause. Write one series from 0 to 1, or remove the field.
	ReasonMeasuredUnusable = "MeasuredUnusable"
)

// Reasons of the condition ScaledToZero.
const (
	// ReasonNoReplicas (True): the workload has no replicas, so a missing sample counts as demand 0.
	ReasonNoReplicas = "NoReplicas"
)

// Reasons of the condition Paused.
const (
	// ReasonAsBefore (True): the autoscaler has the replicas that the HPA of spec.scaling.before had.
	//
	// Fix: forewarm resume NAME ends it.
	ReasonAsBefore = "AsBefore"
	// ReasonBeforeAssumed (True): part of the HPA before is assumed, and the autoscaler may have more replicas than it had.
	//
	// Fix: the message has what to write to make it exact. forewarm resume NAME ends it.
	ReasonBeforeAssumed = "BeforeAssumed"
	// ReasonInvalidAnnotation (False): the annotation is neither true nor false, so the Forecast is not paused.
	//
	// Fix: set it by forewarm pause NAME, or remove it by forewarm resume NAME.
	ReasonInvalidAnnotation = "InvalidAnnotation"
)

// Reasons of the condition Exposed.
const (
	// ReasonExposed (True): External metrics are answered under the alias.
	ReasonExposed = "Exposed"
	// ReasonNameTaken (False): the metric of the alias is the name of another Forecast of the namespace, which answers.
	//
	// Fix: rename that Forecast, or remove spec.expose.
	ReasonNameTaken = "NameTaken"
	// ReasonAliasTaken (False): an older Forecast of the namespace has the same alias, and keeps answering. Of equally old ones,
	// and in a folder, the first by name does.
	//
	// Fix: remove spec.expose from one of them.
	ReasonAliasTaken = "AliasTaken"
)

// Reasons of the condition Reachable.
const (
	// ReasonReachable (True): external.metrics.k8s.io and custom.metrics.k8s.io lead to Forewarm.
	ReasonReachable = "Reachable"
	// ReasonExternalMetricOnly (True): only external.metrics.k8s.io leads to Forewarm.
	//
	// Fix: use an External metric.
	ReasonExternalMetricOnly = "ExternalMetricOnly"
	// ReasonObjectMetricOnly (True): only custom.metrics.k8s.io leads to Forewarm.
	//
	// Fix: use an Object metric (docs/hpa.md#external-or-object-metric), or KEDA (docs/keda.md).
	ReasonObjectMetricOnly = "ObjectMetricOnly"
	// ReasonOwnedByOthers (False): both groups lead to other servers.
	//
	// Fix: use KEDA (docs/keda.md), or give Forewarm one of the groups.
	ReasonOwnedByOthers = "OwnedByOthers"
	// ReasonAPIServiceUnavailable (False): a group leads to Forewarm, and the kube-apiserver does not reach it.
	//
	// Fix: the message has the kube-apiserver's error. Check the certificate, NetworkPolicies and the pods.
	ReasonAPIServiceUnavailable = "APIServiceUnavailable"
	// ReasonNoAPIService (False): neither group exists.
	//
	// Fix: Forewarm's leader takes a free group, unless its flag says false. Its log says what hinders it.
	ReasonNoAPIService = "NoAPIService"
)
