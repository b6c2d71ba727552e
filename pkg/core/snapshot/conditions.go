package snapshot

// The states and conditions of a Forecast, and the reasons of the conditions. docs/reference/conditions.md is generated from
// these comments. They are here and not in pkg/api, because pkg/core imports no other package of the project.

// State is the health of a Forecast in one word.
type State string

// Reasons of the condition Ready. These are the states of a Forecast.
const (
	// Ready (True): Forewarm serves a forecast as the Forecast specifies.
	Ready State = "Ready"
	// Warming (True): Forewarm serves a value, but it has less than one season (a day) of history. The value is not yet better than the
	// value that a reactive autoscaler would use. The message says when this phase ends.
	//
	// Fix: wait.
	Warming State = "Warming"
	// FallingBack (False): the newest samples are missing, so Forewarm serves the running maximum of the observed demand.
	//
	// Fix: see the condition SourceHealthy, and docs/concepts.md#the-fallback-chain.
	FallingBack State = "FallingBack"
	// Stale (False): the data is too old, so Forewarm serves no value. The HPA keeps its replicas.
	//
	// Fix: see the condition SourceHealthy.
	Stale State = "Stale"
	// Pending (False): Forewarm has not read any history yet.
	//
	// Fix: wait. If the state does not change within a few minutes, see the condition SourceHealthy.
	Pending State = "Pending"
	// Invalid (False): the object has errors, so Forewarm serves no value. The message lists all errors. The state is also Invalid if the
	// query seems to return a counter, because the value has almost never decreased for a day.
	//
	// Fix: correct the object. If the query returns a counter, use the rate of the counter: sum(rate(…[2m])).
	Invalid State = "Invalid"
)

// Serves reports whether Forewarm serves a value in this state.
func (s State) Serves() bool { return s == Ready || s == Warming || s == FallingBack }

// Condition is one fact about a Forecast that its user should know, in the form of a Kubernetes condition. Type and Reason are
// CamelCase.
type Condition struct {
	Type    string
	True    bool
	Reason  string
	Message string
}

// Conditions of a Forecast.
const (
	// ConditionReady is True while Forewarm serves a value as the Forecast specifies. The reason is the state of the Forecast.
	ConditionReady = "Ready"
	// ConditionSource is True while the source answers the queries.
	ConditionSource = "SourceHealthy"
	// ConditionObjective is True while the objective is met. The reason is the verdict (docs/objectives.md#verdicts-events-and-alerts).
	// The message contains the numbers.
	ConditionObjective = "ObjectiveMet"
	// ConditionUncalibrated is present, and True, while an objective cannot be calibrated.
	ConditionUncalibrated = "Uncalibrated"
	// ConditionSaturated is present, and True, while the workload is saturated, so that the real demand may be higher than the observed
	// demand. While the query of signal.saturated fails, it is False, with one of the reasons of SourceHealthy.
	ConditionSaturated = "Saturated"
	// ConditionData is present, and False, while Forewarm drops or corrects some samples.
	ConditionData = "DataClean"
	// ConditionSignal is present, and False, while the signal is probably not the total demand of the workload, while it does not
	// match the target, or while the measured lateness differs from the simulated lateness.
	ConditionSignal = "SignalPlausible"
	// ConditionEvents is present, and False, while the events of a Forecast overlap, or do not match the demand that was observed.
	ConditionEvents = "EventsPlausible"
	// ConditionDeferrable is present, and False, while deferrable work is unknown, or is not finished in time.
	ConditionDeferrable = "DeferrablePlausible"
	// ConditionVariants is present, and False, while a variant cannot run the replicas for its part of the demand, or while an autoscaler
	// reads the value for all variants.
	ConditionVariants = "VariantsPlausible"
	// ConditionScaledToZero is present, and True, while the workload is scaled to zero and its signal is absent.
	ConditionScaledToZero = "ScaledToZero"
	// ConditionAutoscalers is present, and False, while demand is expected and an autoscaler does not scale the workload.
	ConditionAutoscalers = "AutoscalersActive"
	// ConditionPaused is present while the annotation forewarm.dev/pause is true or invalid. It is True while the annotation pauses the
	// Forecast (docs/rollout.md). The message says what Forewarm serves instead of the forecast.
	ConditionPaused = "Paused"
	// ConditionExposed is present if the Forecast has spec.expose. It is True while Forewarm answers requests for the External metric
	// with that alias.
	ConditionExposed = "Exposed"
	// ConditionReachable is True while an HPA can reach the metric. The message lists the owners of the API groups.
	ConditionReachable = "Reachable"
	// ConditionReplicas is present, and False, while adapter replicas (replicas of Forewarm itself) have different settings or data. They
	// then serve different values, and an HPA can read either value. See docs/operations.md#comparison-of-replicas.
	ConditionReplicas = "ReplicasAgree"
)

// Reasons of the condition SourceHealthy.
const (
	// ReasonAnswering (True): the source answered the newest query.
	ReasonAnswering = "Answering"
	// ReasonPending (False): the source has not answered a query yet.
	//
	// Fix: wait.
	ReasonPending = "Pending"
	// ReasonNoSeries (False): the query returns no series.
	//
	// Fix: see the message, which says what Forewarm found instead. See also docs/signals.md#presets.
	ReasonNoSeries = "NoSeries"
	// ReasonSeveralSeries (False): the query returns more than one series.
	//
	// Fix: aggregate the query, for example with sum().
	ReasonSeveralSeries = "SeveralSeries"
	// ReasonQueryRefused (False): the source rejects the query, or Forewarm's check of queries by tenants does.
	//
	// Fix: correct the query. The message says why it was rejected.
	ReasonQueryRefused = "QueryRefused"
	// ReasonAnswerTooLarge (False): the response is larger than the limit of Forewarm, or it exceeds a limit of the source on samples,
	// series, points or memory.
	//
	// Fix: aggregate the query, read less history, or use a recording rule.
	ReasonAnswerTooLarge = "AnswerTooLarge"
	// ReasonUnavailable (False): the source does not answer, or the disk of the embedded engine is full.
	//
	// Fix: check that the source runs and that Forewarm can reach it.
	ReasonUnavailable = "Unavailable"
	// ReasonQueryFailed (False): the query failed for another reason.
	//
	// Fix: see the error in the message.
	ReasonQueryFailed = "QueryFailed"
	// ReasonClockDiffers (False): the source answers, but its clock differs from Forewarm's clock by more than one step. If the source's
	// clock is behind, samples look too old, and after staleAfter Forewarm serves no value. If it is ahead, the newest samples that
	// Forewarm reads are older than they look, so the served value is late.
	//
	// Fix: synchronize the clocks of both machines (NTP).
	ReasonClockDiffers = "ClockDiffers"
	// ReasonClockBehind (False): the newest sample is ahead of the clock of Forewarm's machine.
	//
	// Fix: set the clock of that machine (NTP).
	ReasonClockBehind = "ClockBehind"
)

// Reasons of the condition DataClean.
const (
	// ReasonSamplesDropped (False): Forewarm dropped samples that are not plausible as demand (negative, infinite, NaN, or above 1e15).
	// The message says how many.
	//
	// Fix: correct the query.
	ReasonSamplesDropped = "SamplesDropped"
	// ReasonSuspect (False): the demand is far higher than anything in its history. It may be a measurement error. Models use it only
	// after it has lasted for some time or has occurred again (docs/concepts.md#the-bound).
	//
	// Fix: check whether the scrape is correct. If the demand is real, wait.
	ReasonSuspect = "SuspectSample"
	// ReasonSuddenLow (False): the demand fell suddenly and further than usual, or it fell after a gap. For two minutes, Forewarm serves
	// the value from before the fall. After that, the value follows the fall, and the condition disappears. After ten minutes, the
	// models learn from the lower demand.
	//
	// Fix: if the low lasts only a few minutes, do nothing. If it happens repeatedly, check the scrapes and the source, because a part of
	// the total may be missing.
	ReasonSuddenLow = "SuddenLow"
	// ReasonOutageSuspected (False): the demand suddenly fell to almost 0. For 10 minutes, Forewarm uses the demand from before the fall.
	// After that, this demand is halved every hour, for at most six hours.
	//
	// Fix: check the workload, its scrape and the query. If the workload really has no demand, you do not need to do anything.
	ReasonOutageSuspected = "OutageSuspected"
	// ReasonIncomplete (False): the newest samples are lower than the samples before them, and the source still adds to samples of this
	// age. Until they are complete, Forewarm uses the demand that it observed before.
	//
	// Fix: find the component that delays the samples, such as a remote write or a recording rule. If the source always lags, set
	// signal.delay.
	ReasonIncomplete = "Incomplete"
	// ReasonUnitChanged (False): within a few minutes, the demand rose or fell by a factor of 60, 100, 1,000 or 3,600 and kept its shape.
	// Its unit has probably changed. Forewarm converts the older history to the new unit. The condition stays for a day.
	//
	// Fix: if the change is intended, correct the autoscaler's target. Otherwise, restore the unit. See
	// docs/concepts.md#a-unit-that-changes.
	ReasonUnitChanged = "UnitChanged"
)

// Reasons of the condition Exposed.
const (
	// reasonExposed (True): Forewarm answers requests for the External metric with that alias.
	reasonExposed = "Exposed"
	// reasonNameTaken (False): another Forecast in the namespace has the same name as the alias, so Forewarm answers with that Forecast.
	//
	// Fix: rename that Forecast, or remove spec.expose.
	reasonNameTaken = "NameTaken"
	// reasonAliasTaken (False): an older Forecast in the namespace has the same alias, and keeps it. If both Forecasts are equally old,
	// or come from a folder, the one whose name is first in the alphabet has the alias.
	//
	// Fix: remove spec.expose from one of them.
	reasonAliasTaken = "AliasTaken"
)
