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
	forecastDemand = perForecast("forecast_value",
		"Quantile of that level of the maximum of demand from now to the horizon (seconds), by the selected "+
			"candidate, in the demand's unit.", "level", "horizon")
	observedDemand = perForecast("observed_value", "Demand observed now, in its own unit.")
	servedDemand   = perForecast("served_value",
		"Value that the metrics APIs serve now, in the demand's unit; absent while no value is served.")
	servedVariant = perForecast("served_variant_value",
		"Part of a variant that the metrics APIs serve now, in the demand's unit; absent without variants.", "variant")
	dataAge    = perForecast("data_age_seconds", "Age of the newest sample.")
	leadTime   = perForecast("lead_time_seconds", "Lead time: from more replicas to ready.")
	leadWindow = perForecast("lead_window_seconds",
		"Lead window, over which demand is forecast: lead time (with an objective the median start), HPA sync period, "+
			"one step and metric lag.")
	skill = perForecast("skill_ratio",
		"Skill: 1 minus the selected candidate's loss over the last value's loss. The loss is the cost under an "+
			"objective, else the pinball loss. Above 0 is better than the last value.")
	coverage = perForecast("coverage_ratio",
		"Coverage: share of past lead windows whose maximum was at most the served quantile.")
	fallbacks = perForecast("fallback_steps_total",
		"Steps served by the running maximum because the newest samples were missing.")
	forecastShadow = perForecast("forecast_shadow",
		"1 for a Forecast in shadow mode, whose forecasts are not served, 0 for the others.")
	forecastUnused = perForecast(
		"forecast_unused",
		"1 for a Forecast that no HorizontalPodAutoscaler and no ScaledObject reads, 0 for the others and where they cannot be read.",
	)
	forecastState = perForecast("forecast_state", "1 for the state that the Forecast is in, 0 for the others.",
		"state")
	forecastCondition = perForecast("forecast_condition",
		"1 while the condition of that type is True, 0 while it is False; absent while the Forecast does not have it.",
		"type")
	candidateLoss = perForecast("candidate_loss_value",
		"Trailing mean pinball loss of a candidate at the served quantile.", "model")
	candidateSelected = perForecast("candidate_selected", "1 for the selected candidate, 0 for the others.", "model")

	objectiveLate = perForecast(
		"objective_late_ratio",
		"Share of the demand that may be late, by the objective; absent with a cost ratio, and with an objective by bad hours.",
	)
	objectiveBadHours = perForecast(
		"objective_bad_hour_ratio",
		"Share of the demand that may arrive in bad hours, by the objective; absent without such an objective. In a bad hour more "+
			"than a tenth of the demand waits longer than the objective's wait.",
	)
	badHourLate = perForecast(
		"bad_hour_late_ratio",
		"Share of the demand that was late in each of the three worst hours of the budget's period, by the UTC hour in which it begins.",
		"hour",
	)
	objectiveMet = perForecast("objective_met",
		"1 while no more than the lateness budget is spent, 0 while more is; absent while there is too little "+
			"history, and with a cost ratio.")
	budgetAllowed = perForecast(
		"objective_budget_allowed_replica_seconds",
		"Budget: the demand that may be late (or arrive in bad hours, where the objective limits these) over the budget's period, "+
			"or over what has passed of it, in replica time; absent with a cost ratio.",
	)
	budgetSpent = perForecast(
		"objective_budget_spent_replica_seconds",
		"What of the budget is spent: the demand that was late, or arrived in bad hours, in the simulated autoscaler, in replica time.",
	)
	burnRate = perForecast("objective_burn_rate",
		"Lateness of the last hour (1h) and of the last six (6h) as a multiple of the objective; at 1, the budget "+
			"is spent at the end of its period.", "window")
	headroomMultiplier = perForecast("headroom_multiplier",
		"Headroom multiplier k: what is served above the median of the window peak, as a multiple of its spread.")
	objectiveExpected = perForecast("objective_expected_late_ratio",
		"Share of the demand that is expected to be late with this headroom.")
	simulatedLate = perForecast("simulated_late_ratio",
		"Share of the demand that was late over the simulated window, in an autoscaler simulated on the policy's "+
			"value: served (in Shadow mode what would be served), observed (an HPA with the same target on the "+
			"observed demand), before (the HPA of spec.scaling.before) or hindsight (the same with the best "+
			"target of the window).", "policy")
	deferrableMissed = perForecast(
		"deferrable_missed_ratio",
		"Share of the work that may wait that missed its deadline over the simulated window, in the simulated autoscaler; absent without any.",
	)
	deferrableWaiting = perForecast("deferrable_waiting_replica_seconds",
		"Work that may wait and waits now, in the simulated autoscaler, in replica time.")
	measuredLate = perForecast("measured_late_ratio",
		"Share of the requests that waited longer than the objective's wait, by objective.measured, over the "+
			"budget's period or what is known of it; absent without it. Beside simulated_late_ratio.")
	simulatedCost = perForecast("simulated_relative_cost_ratio",
		"Relative cost over the simulated window, by policy: replica time over that of the demand at full "+
			"capacity; 1 is the least possible.", "policy")
	simulatedReplicas = perForecast("simulated_replica_seconds",
		"Replica time over the simulated window, by policy. Multiply by the GPUs of a replica for GPU time.", "policy")
	replicaSeconds = perForecast(
		"replica_seconds_total",
		"Replica time of the simulated autoscalers since the process began, by policy, counted at the end of each hour; of Forewarm's value "+
			"by variant, which is the workload's name where there is one. Multiply by the GPUs of a replica for GPU time.",
		"policy",
		"variant",
	)
	costTotal = perForecast("cost_total",
		"Cost of that replica time, in the currency of spec.price; absent without a price.", "policy", "variant")
	hourlyCost = perForecast(
		"replica_hourly_cost",
		"Price of a replica for an hour, by spec.price and those of the variants, named as OpenCost names hourly costs; absent without a price.",
		"variant",
	)
	simulatedWindow = perForecast("simulated_window_seconds",
		"Length of the simulated window: the budget's period at most.")

	forecasts = newDesc("forecasts", "Number of Forecasts by state.", "state")
	pending   = newDesc("pending_forecasts",
		"Number of Forecasts whose first query is in progress, or is not answered.")
	partial = newDesc("partial_forecasts",
		"Number of Forecasts that answer from their newest history while the whole of it is being read.")
	snapshotAge = newDesc("snapshot_age_seconds",
		"Time since the refresh loop last published a snapshot; grows while the loop is stuck.")
	refreshStep  = newDesc("refresh_step_seconds", "Duration of the longest step of the last one to two minutes.")
	refreshSteps = newDesc("refresh_steps_total", "Steps of the refresh loop.")
	queries      = newDesc("source_queries_total", "Queries sent to the source.")
	queryErrors  = newDesc("source_query_errors_total", "Queries to the source that failed.")
	sourceClock  = newDesc(
		"source_clock_ahead_seconds",
		"How far the clock of a source is ahead of this replica's, negative if it is behind, at least; read every five minutes.",
		"source",
	)
	modelRefits = newDesc("model_refits_total", "Times that the models of a Forecast were refitted.")

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
