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
	forecastDemand = perForecast(
		"forecast_value",
		"Quantile of the maximum of demand from now to the horizon (seconds), by the model that serves, in the demand's unit.",
		"quantile",
		"horizon",
	)
	observedDemand = perForecast("observed_value", "Demand observed now, in its own unit.")
	servedDemand   = perForecast("served_value",
		"Value that the metrics APIs answer now, in the demand's unit; absent while nothing is served.")
	dataAge    = perForecast("data_age_seconds", "Age of the newest real sample.")
	leadTime   = perForecast("lead_time_seconds", "Time from more replicas to ready.")
	leadWindow = perForecast("window_seconds",
		"How far the served value looks ahead: lead time, HPA sync, one step and metric lag.")
	skill = perForecast("skill_ratio",
		"1 minus the model's loss over the last value's loss: the cost under an objective, else the pinball loss. "+
			"Above 0 is better than reacting.")
	coverage = perForecast("coverage_ratio",
		"Share of past windows whose maximum stayed within the served quantile.")
	fallbacks = perForecast("fallback_steps_total",
		"Steps served by the running maximum because the newest samples were missing.")
	forecastState = perForecast("forecast_state", "1 for the state that the Forecast is in, 0 for the others.", "state")
	candidateLoss = perForecast("candidate_loss_value", "Trailing mean pinball loss of a model at the served level.",
		"model")
	candidateChosen = perForecast("candidate_chosen", "1 for the selected model, 0 for the others.", "model")

	objectiveLate = perForecast("objective_late_ratio",
		"Share of the demand that may be late, by the objective; absent with a cost ratio.")
	objectiveMet = perForecast(
		"objective_met",
		"Whether the objective is met (1) or not (0); absent while there is too little history, and with a cost ratio.",
	)
	objectiveMargin = perForecast("objective_margin",
		"Headroom multiplier k: what is served above the median of the window peak, as a multiple of its spread.")
	objectiveExpected = perForecast("objective_expected_late_ratio",
		"Share of the demand that is expected to be late with this headroom.")
	outcomeLate = perForecast(
		"outcome_late_ratio",
		"Share of the demand that was late over the outcome's window, in an autoscaler simulated on the policy's value: "+
			"served (in Shadow mode what would be served) or observed.",
		"policy",
	)
	outcomeCost = perForecast(
		"outcome_cost_ratio",
		"Relative cost over the outcome's window, by policy: replica time over that of the demand at full capacity; 1 is the "+
			"least possible.",
		"policy",
	)
	outcomeReplicas = perForecast("outcome_replica_seconds",
		"Replica time over the outcome's window, by policy. Multiply by the GPUs of a replica for GPU time.", "policy")
	outcomeWindow = perForecast("outcome_window_seconds",
		"Length of the outcome's window: the newest week at most.")

	forecasts    = describe("forecasts", "Number of Forecasts by state.", "state")
	pending      = describe("pending_forecasts", "Number of Forecasts whose first query is still under way.")
	snapshotAge  = describe("snapshot_age_seconds", "Time since the refresh loop last published; grows if it is stuck.")
	refreshStep  = describe("refresh_step_seconds", "Duration of the last step of the refresh loop.")
	refreshSteps = describe("refresh_steps_total", "Steps of the refresh loop.")
	queries      = describe("source_queries_total", "Queries sent to the history source.")
	queryErrors  = describe("source_query_errors_total", "Queries to the history source that failed.")
	rebuilds     = describe("model_rebuilds_total", "Times that models were refitted.")

	descriptions = []*prometheus.Desc{
		forecastDemand, observedDemand, servedDemand, dataAge, leadTime, leadWindow, skill, coverage, fallbacks,
		forecastState, candidateLoss, candidateChosen,
		objectiveLate, objectiveMet, objectiveMargin, objectiveExpected,
		outcomeLate, outcomeCost, outcomeReplicas, outcomeWindow,
		forecasts, pending, snapshotAge, refreshStep, refreshSteps, queries, queryErrors, rebuilds,
	}
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("forewarm_"+name, help, labels, nil)
}

func perForecast(name, help string, labels ...string) *prometheus.Desc {
	return describe(name, help, append([]string{"namespace", "forecast"}, labels...)...)
}
