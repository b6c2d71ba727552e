package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// levels are the quantiles of the forecast that are exported: three for each horizon, so that 1,000 Forecasts stay a
// small scrape.
var levels = []float64{0.5, 0.95, 0.99} //nolint:gochecknoglobals // A constant table.

var allStates = []snapshot.State{ //nolint:gochecknoglobals // A constant table.
	snapshot.Ready, snapshot.Warming, snapshot.FallingBack, snapshot.Stale, snapshot.Pending, snapshot.Invalid,
}

// Descriptions of every metric; constant.
//
//nolint:gochecknoglobals // Constant tables.
var (
	forecastDemand = perForecast("forecast_value", "Quantile of the highest demand between now and the horizon "+
		"(in seconds), as forecast by the selected candidate, in the demand's unit. The label level is the "+
		"quantile.", "level", "horizon")
	observedDemand = perForecast("observed_value", "Current observed demand, in its own unit.")
	servedDemand   = perForecast("served_value",
		"Value that the metrics APIs serve now, in the demand's unit. Absent while no value is served.")
	servedVariant = perForecast("served_variant_value", "Part of the value that the metrics APIs serve now for a "+
		"variant, in the demand's unit. Absent without variants.", "variant")
	dataAge  = perForecast("data_age_seconds", "Age of the newest sample.")
	leadTime = perForecast("lead_time_seconds", "Lead time: the time from a request for more replicas until they "+
		"are ready.")
	leadWindow = perForecast("lead_window_seconds", "Lead window, over which demand is forecast. It is the sum of "+
		"the lead time (with an objective, the median start time), the HPA sync period, one step and the metric "+
		"lag.")
	skill = perForecast("skill_ratio", "Skill: 1 minus the ratio of the selected candidate's pinball loss to the "+
		"loss of the last value. Above 0, the candidate forecasts better than the last value.")
	coverage = perForecast("coverage_ratio",
		"Coverage: share of past lead windows whose highest demand was at or below the selected candidate's quantile "+
			"(with an objective, its 0.95 quantile).")
	fallbacks = perForecast("fallback_steps_total",
		"Number of steps in which Forewarm served the running maximum because the newest samples were missing.")
	forecastShadow = perForecast("forecast_shadow",
		"1 if the Forecast is in shadow mode, in which its forecasts are not served, otherwise 0.")
	forecastUnused = perForecast(
		"forecast_unused",
		"1 if no HorizontalPodAutoscaler and no ScaledObject reads the Forecast, otherwise 0. Also 0 if Forewarm cannot read these objects.",
	)
	forecastState = perForecast("forecast_state", "1 for the current state of the Forecast, 0 for the other states.",
		"state")
	forecastCondition = perForecast("forecast_condition", "1 while the condition of this type is True, 0 while it "+
		"is False. Absent while the Forecast does not have the condition.", "type")
	candidateLoss = perForecast("candidate_loss_value",
		"Trailing mean pinball loss of a candidate at the served quantile.", "model")
	candidateSelected = perForecast(
		"candidate_selected",
		"1 for the selected candidate, 0 for the other candidates.",
		"model",
	)

	objectiveLate = perForecast(
		"objective_late_ratio",
		"Share of the demand that the objective allows to be late. Absent with a cost ratio, and with an objective for bad hours.",
	)
	objectiveBadHours = perForecast(
		"objective_bad_hour_ratio",
		"Share of the demand that the objective allows to arrive in bad hours. Absent without such an objective. In a bad hour, more "+
			"than a tenth of the demand waits longer than the objective's wait.",
	)
	badHourLate = perForecast(
		"bad_hour_late_ratio",
		"Share of the demand that was late in each of the three worst hours of the budget's period. The label hour is the start of the "+
			"hour in UTC.",
		"hour",
	)
	objectiveMet = perForecast("objective_met", "1 while the lateness is within the budget, 0 while the budget is "+
		"overspent. Absent while there is too little history, and with a cost ratio.")
	budgetAllowed = perForecast(
		"objective_budget_allowed_replica_seconds",
		"Budget: the demand that may be late over the budget's period, or over the part of the period that is known, in replica time. "+
			"If the objective limits bad hours, it is the demand that may arrive in bad hours. Absent with a cost ratio.",
	)
	budgetSpent = perForecast(
		"objective_budget_spent_replica_seconds",
		"Spent part of the budget: the demand that was late, or arrived in bad hours, in the simulated autoscaler, in replica time.",
	)
	burnRate = perForecast("objective_burn_rate", "Lateness of the last hour (1h) and of the last six hours (6h) "+
		"as a multiple of the objective. At a burn rate of 1, the budget is exactly spent at the end of its "+
		"period.", "window")
	headroomMultiplier = perForecast("headroom_multiplier", "Headroom multiplier k: how far the served value is "+
		"above the median of the window peak, as a multiple of the spread.")
	objectiveExpected = perForecast("objective_expected_late_ratio",
		"Share of the demand that is expected to be late with this headroom.")
	simulatedLate = perForecast("simulated_late_ratio", "Share of the demand that was late over the simulated "+
		"window, in a simulated autoscaler, by policy: served (an autoscaler that reads Forewarm's value or, in "+
		"Shadow mode, the value that would be served), observed (an HPA with the same target that scales on the "+
		"observed demand), before (the HPA of spec.scaling.before) or hindsight (that HPA with the best target "+
		"for the window).", "policy")
	deferrableMissed = perForecast(
		"deferrable_missed_ratio",
		"Share of the deferrable work that missed its deadline over the simulated window, in the simulated autoscaler. Absent without "+
			"deferrable work.",
	)
	deferrableWaiting = perForecast("deferrable_waiting_replica_seconds",
		"Replica-seconds of deferrable work that is waiting now, according to the simulated autoscaler.")
	measuredLate = perForecast("measured_late_ratio", "Share of the requests that waited longer than the "+
		"objective's wait, as measured by objective.measured, over the known part of the budget's period. Absent "+
		"without objective.measured. Compare it with forewarm_simulated_late_ratio.")
	simulatedCost = perForecast("simulated_relative_cost_ratio", "Relative cost over the simulated window, by "+
		"policy: the replica time, divided by the replica time that the demand would need at full capacity. 1 is "+
		"the lowest possible cost.", "policy")
	simulatedReplicas = perForecast("simulated_replica_seconds", "Replica time over the simulated window, by "+
		"policy. For the GPU time, multiply it by the number of GPUs per replica.", "policy")
	replicaSeconds = perForecast(
		"replica_seconds_total",
		"Replica time of the simulated autoscalers since the process started, by policy, updated at the end of each hour. The "+
			"replica time of the policy served is split by variant; without variants, the label variant is the name of the "+
			"workload. For the GPU time, multiply it by the number of GPUs per replica.",
		"policy",
		"variant",
	)
	costTotal = perForecast("cost_total", "Cost of the replica time in forewarm_replica_seconds_total, in the "+
		"currency of spec.price. Absent without a price.", "policy", "variant")
	hourlyCost = perForecast(
		"replica_hourly_cost",
		"Price of a replica for an hour, from spec.price and the prices of the variants. The name follows the hourly costs of OpenCost. "+
			"Absent without a price.",
		"variant",
	)
	simulatedWindow = perForecast("simulated_window_seconds",
		"Length of the simulated window, which is at most the budget's period.")

	forecasts = newDesc("forecasts", "Number of Forecasts by state.", "state")
	pending   = newDesc("pending_forecasts",
		"Number of Forecasts whose first query is in progress or got no answer.")
	partial = newDesc("partial_forecasts",
		"Number of Forecasts that serve values from their newest history while Forewarm reads the rest of it.")
	snapshotAge = newDesc("snapshot_age_seconds",
		"Time since the refresh loop last published a snapshot. It grows while the loop is stuck.")
	refreshStep = newDesc("refresh_step_seconds", "Duration of the longest step of the refresh loop in the last "+
		"one to two minutes.")
	refreshSteps = newDesc("refresh_steps_total", "Number of steps of the refresh loop.")
	queries      = newDesc("source_queries_total", "Number of queries sent to the source.")
	queryErrors  = newDesc("source_query_errors_total", "Number of queries to the source that failed.")
	sourceClock  = newDesc(
		"source_clock_ahead_seconds",
		"Lower limit of how far the clock of a source is ahead of the clock of this replica. Negative if the source is behind. Read "+
			"every five minutes.",
		"source",
	)
	modelRefits = newDesc("model_refits_total", "Number of times that the models of a Forecast were refitted.")

	descriptions = []*prometheus.Desc{
		forecastDemand,
		observedDemand,
		servedDemand,
		servedVariant,
		dataAge,
		leadTime,
		leadWindow,
		skill,
		coverage,
		fallbacks,
		forecastShadow,
		forecastUnused,
		forecastState,
		forecastCondition,
		candidateLoss,
		candidateSelected,
		objectiveLate,
		objectiveBadHours,
		badHourLate,
		objectiveMet,
		budgetAllowed,
		budgetSpent,
		burnRate,
		headroomMultiplier,
		objectiveExpected,
		simulatedLate,
		measuredLate,
		deferrableMissed,
		deferrableWaiting,
		simulatedCost,
		simulatedReplicas,
		simulatedWindow,
		replicaSeconds,
		costTotal,
		hourlyCost,
		forecasts,
		pending,
		partial,
		snapshotAge,
		refreshStep,
		refreshSteps,
		queries,
		queryErrors,
		modelRefits,
		sourceClock,
	}
)

func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("forewarm_"+name, help, labels, nil)
}

func perForecast(name, help string, labels ...string) *prometheus.Desc {
	return newDesc(name, help, append([]string{"namespace", "forecast"}, labels...)...)
}
