package snapshot

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
	// ConditionObjective is True while the objective is met. The reason is the verdict, see docs/objectives.md#verdicts-events-and-alerts. The
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
	// ConditionEvents is present, and False, while the events of a Forecast contradict each other, or are not what came.
	ConditionEvents = "EventsPlausible"
	// ConditionDeferrable is present, and False, while work that may wait is not known, or not done in time.
	ConditionDeferrable = "DeferrablePlausible"
	// ConditionVariants is present, and False, while a variant does not have the part that it would be asked for.
	ConditionVariants = "VariantsPlausible"
	// ConditionScaledToZero is present, and True, while the workload is scaled to zero and its signal is absent.
	ConditionScaledToZero = "ScaledToZero"
	// ConditionPaused is present while the annotation forewarm.dev/pause is true or wrong, and True while it pauses the Forecast
	// (docs/rollout.md). The message has what is served instead of the forecast.
	ConditionPaused = "Paused"
	// ConditionExposed is present where the Forecast has spec.expose, and True while External metrics are answered under that alias.
	ConditionExposed = "Exposed"
	// ConditionReachable is True while an HPA can reach the metric. The message names the owners of the API groups.
	ConditionReachable = "Reachable"
	// ConditionReplicas is present, and False, while adapter replicas (replicas of Forewarm itself) differ in what decides values: they
	// serve different values, and an HPA reads one or the other. See docs/operations.md#comparison-of-replicas.
	ConditionReplicas = "ReplicasAgree"
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
	// Fix: the message has what was found instead. See docs/signals.md#presets.
	ReasonNoSeries = "NoSeries"
	// ReasonSeveralSeries (False): the query returns more than one series.
	//
	// Fix: aggregate it, for example with sum().
	ReasonSeveralSeries = "SeveralSeries"
	// ReasonQueryRefused (False): the source or the tenant check refuses the query.
	//
	// Fix: correct the query. The message has the cause.
	ReasonQueryRefused = "QueryRefused"
	// ReasonAnswerTooLarge (False): the answer is larger than Forewarm reads, or a limit of the source on samples, series, points or memory
	// refuses it.
	//
	// Fix: aggregate the query, read less history, or use a recording rule.
	ReasonAnswerTooLarge = "AnswerTooLarge"
	// ReasonUnavailable (False): the source does not answer, or the disk of the embedded engine is full.
	//
	// Fix: check the source.
	ReasonUnavailable = "Unavailable"
	// ReasonQueryFailed (False): the query failed for another cause.
	//
	// Fix: the message has the error.
	ReasonQueryFailed = "QueryFailed"
	// ReasonClockDiffers (False): the queries are answered, but the source's clock differs from Forewarm's by more than a step. If it is
	// behind, samples look too old, and after staleAfter nothing is served. If it is ahead, what is served is that much too late.
	//
	// Fix: synchronize the clocks of both machines (NTP).
	ReasonClockDiffers = "ClockDiffers"
	// ReasonClockBehind (False): the newest sample is ahead of this machine's clock.
	//
	// Fix: set the clock.
	ReasonClockBehind = "ClockBehind"
)

// Reasons of the condition DataClean.
const (
	// ReasonSamplesDropped (False): samples that cannot be demand (negative, infinite, NaN, above 1e15) were dropped. The message has
	// their number.
	//
	// Fix: correct the query.
	ReasonSamplesDropped = "SamplesDropped"
	// ReasonSuspect (False): the demand is far above all that its history has shown. It may be an error of the measurement.
	// It counts once it is corroborated, see docs/concepts.md#the-bound.
	//
	// Fix: check the scrape. If the demand is real, wait.
	ReasonSuspect = "SuspectSample"
	// ReasonSuddenLow (False): the demand fell suddenly, further than it usually does, or fell after a gap. For two minutes the value
	// before the fall is served. Then the fall is followed, without this condition, and after ten minutes it is learnt.
	//
	// Fix: none if it lasts for some minutes only. If it comes again and again, check the scrapes and the source: a part of the total
	// may be missing.
	ReasonSuddenLow = "SuddenLow"
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
	// ReasonUnitChanged (False): within a few minutes the demand became 60, 100, 1,000 or 3,600 times as large or as small, and it keeps
	// its shape: its unit has probably changed. What came before counts in the new unit. The condition stays for a day.
	//
	// Fix: if the change is meant, correct the autoscaler's target; else restore the unit. See docs/concepts.md#a-unit-that-changes.
	ReasonUnitChanged = "UnitChanged"
)

// Reasons of the condition Exposed.
const (
	// reasonExposed (True): External metrics are answered under the alias.
	reasonExposed = "Exposed"
	// reasonNameTaken (False): the metric of the alias is the name of another Forecast of the namespace, which answers.
	//
	// Fix: rename that Forecast, or remove spec.expose.
	reasonNameTaken = "NameTaken"
	// reasonAliasTaken (False): an older Forecast of the namespace has the same alias, and keeps answering. Of equally old ones,
	// and in a folder, the first by name does.
	//
	// Fix: remove spec.expose from one of them.
	reasonAliasTaken = "AliasTaken"
)
