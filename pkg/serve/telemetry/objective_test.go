package telemetry_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// objectivesBoard are Forecasts in each verdict, one whose report knows no number, and one without any.
func objectivesBoard() *snapshot.Store {
	out := []*snapshot.ForecastState{snapshottest.Ready(snapshottest.Key("quantile"))}
	for name, verdict := range map[string]objective.Verdict{
		"met": objective.Met, "learning": objective.Learning, "max": objective.AtMaxReplicas, "lead": objective.FasterThanLead,
	} {
		e := snapshottest.WithObjective(snapshottest.Key(name))
		e.Objective = snapshottest.ObjectiveReport(verdict)
		e.Objective.Measured = &objective.Measured{Late: 0.029}
		out = append(out, e)
	}
	nothing := snapshottest.WithObjective(snapshottest.Key("nothing"))
	nan := math.NaN()
	nothing.Objective = &objective.Report{
		Late: 0.02, Verdict: objective.Learning, Period: time.Minute,
		Autoscalers: []objective.AutoscalerReport{{Headroom: nan, ExpectedLate: math.Inf(1)}},
		Served:      objective.Account{Arrived: nan, Late: nan, Paid: nan},
		Measured:    &objective.Measured{Late: nan},
		Budget:      objective.Budget{Allowed: nan, Spent: nan, BurnHour: nan, BurnSixHours: nan},
	}
	return snapshottest.Store(append(out, nothing)...)
}

func TestObjective(t *testing.T) {
	const want = `
# HELP forewarm_objective_budget_allowed_replica_seconds Lateness budget: the demand that may be late over the budget's period, or over what has passed of it, in replica time; absent with a cost ratio.
# TYPE forewarm_objective_budget_allowed_replica_seconds gauge
forewarm_objective_budget_allowed_replica_seconds{forecast="lead",namespace="inference"} 6264
forewarm_objective_budget_allowed_replica_seconds{forecast="learning",namespace="inference"} 183.6
forewarm_objective_budget_allowed_replica_seconds{forecast="max",namespace="inference"} 6264
forewarm_objective_budget_allowed_replica_seconds{forecast="met",namespace="inference"} 6264
# HELP forewarm_objective_budget_spent_replica_seconds What of the lateness budget is spent: the demand that was late in the simulated autoscaler, in replica time.
# TYPE forewarm_objective_budget_spent_replica_seconds gauge
forewarm_objective_budget_spent_replica_seconds{forecast="lead",namespace="inference"} 11160
forewarm_objective_budget_spent_replica_seconds{forecast="learning",namespace="inference"} 0
forewarm_objective_budget_spent_replica_seconds{forecast="max",namespace="inference"} 15120
forewarm_objective_budget_spent_replica_seconds{forecast="met",namespace="inference"} 3888.0000000000005
# HELP forewarm_objective_burn_rate Lateness of the last hour (1h) and of the last six (6h) as a multiple of the objective; at 1, the budget is spent at the end of its period.
# TYPE forewarm_objective_burn_rate gauge
forewarm_objective_burn_rate{forecast="lead",namespace="inference",window="1h"} 0.3
forewarm_objective_burn_rate{forecast="lead",namespace="inference",window="6h"} 1.2
forewarm_objective_burn_rate{forecast="learning",namespace="inference",window="1h"} 0.3
forewarm_objective_burn_rate{forecast="learning",namespace="inference",window="6h"} 1.2
forewarm_objective_burn_rate{forecast="max",namespace="inference",window="1h"} 0.3
forewarm_objective_burn_rate{forecast="max",namespace="inference",window="6h"} 1.2
forewarm_objective_burn_rate{forecast="met",namespace="inference",window="1h"} 0.3
forewarm_objective_burn_rate{forecast="met",namespace="inference",window="6h"} 1.2
# HELP forewarm_objective_expected_late_ratio Share of the demand that is expected to be late with this headroom.
# TYPE forewarm_objective_expected_late_ratio gauge
forewarm_objective_expected_late_ratio{forecast="lead",namespace="inference"} 0.018
forewarm_objective_expected_late_ratio{forecast="max",namespace="inference"} 0.024
forewarm_objective_expected_late_ratio{forecast="met",namespace="inference"} 0.01
# HELP forewarm_objective_late_ratio Share of the demand that may be late, by the objective; absent with a cost ratio.
# TYPE forewarm_objective_late_ratio gauge
forewarm_objective_late_ratio{forecast="lead",namespace="inference"} 0.01
forewarm_objective_late_ratio{forecast="learning",namespace="inference"} 0.01
forewarm_objective_late_ratio{forecast="max",namespace="inference"} 0.01
forewarm_objective_late_ratio{forecast="met",namespace="inference"} 0.01
forewarm_objective_late_ratio{forecast="nothing",namespace="inference"} 0.02
# HELP forewarm_headroom_multiplier Headroom multiplier k: what is served above the median of the window peak, as a multiple of its spread.
# TYPE forewarm_headroom_multiplier gauge
forewarm_headroom_multiplier{forecast="lead",namespace="inference"} 6.5
forewarm_headroom_multiplier{forecast="learning",namespace="inference"} 1.9
forewarm_headroom_multiplier{forecast="max",namespace="inference"} 1.3
forewarm_headroom_multiplier{forecast="met",namespace="inference"} 1.3
# HELP forewarm_objective_met 1 while no more than the lateness budget is spent, 0 while more is; absent while there is too little history, and with a cost ratio.
# TYPE forewarm_objective_met gauge
forewarm_objective_met{forecast="lead",namespace="inference"} 0
forewarm_objective_met{forecast="max",namespace="inference"} 0
forewarm_objective_met{forecast="met",namespace="inference"} 1
# HELP forewarm_simulated_replica_seconds Replica time over the simulated window, by policy. Multiply by the GPUs of a replica for GPU time.
# TYPE forewarm_simulated_replica_seconds gauge
forewarm_simulated_replica_seconds{forecast="lead",namespace="inference",policy="before"} 1.1916e+06
forewarm_simulated_replica_seconds{forecast="lead",namespace="inference",policy="hindsight"} 1.2672e+06
forewarm_simulated_replica_seconds{forecast="lead",namespace="inference",policy="observed"} 864000
forewarm_simulated_replica_seconds{forecast="lead",namespace="inference",policy="served"} 1.0656e+06
forewarm_simulated_replica_seconds{forecast="learning",namespace="inference",policy="before"} 39600
forewarm_simulated_replica_seconds{forecast="learning",namespace="inference",policy="hindsight"} 39600
forewarm_simulated_replica_seconds{forecast="learning",namespace="inference",policy="observed"} 39600
forewarm_simulated_replica_seconds{forecast="learning",namespace="inference",policy="served"} 43200
forewarm_simulated_replica_seconds{forecast="max",namespace="inference",policy="before"} 1.1916e+06
forewarm_simulated_replica_seconds{forecast="max",namespace="inference",policy="hindsight"} 1.2672e+06
forewarm_simulated_replica_seconds{forecast="max",namespace="inference",policy="observed"} 864000
forewarm_simulated_replica_seconds{forecast="max",namespace="inference",policy="served"} 1.0656e+06
forewarm_simulated_replica_seconds{forecast="met",namespace="inference",policy="before"} 1.1916e+06
forewarm_simulated_replica_seconds{forecast="met",namespace="inference",policy="hindsight"} 1.2672e+06
forewarm_simulated_replica_seconds{forecast="met",namespace="inference",policy="observed"} 864000
forewarm_simulated_replica_seconds{forecast="met",namespace="inference",policy="served"} 1.0656e+06
forewarm_simulated_replica_seconds{forecast="nothing",namespace="inference",policy="before"} 0
forewarm_simulated_replica_seconds{forecast="nothing",namespace="inference",policy="hindsight"} 0
forewarm_simulated_replica_seconds{forecast="nothing",namespace="inference",policy="observed"} 0
`
	compare(t, registry(t, objectivesBoard(), snapshottest.Now), want,
		"forewarm_objective_expected_late_ratio", "forewarm_objective_late_ratio", "forewarm_headroom_multiplier",
		"forewarm_objective_met", "forewarm_simulated_replica_seconds",
		"forewarm_objective_budget_allowed_replica_seconds", "forewarm_objective_budget_spent_replica_seconds",
		"forewarm_objective_burn_rate")
}

// Late and cost are there for whom demand came, and no number is not one.
func TestSimulatedAutoscalers(t *testing.T) {
	families, err := registry(t, objectivesBoard(), snapshottest.Now).Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if v := m.GetGauge().GetValue(); math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s is %v", family.GetName(), v)
			}
			seen[family.GetName()]++
		}
	}
	for name, want := range map[string]int{
		"forewarm_simulated_late_ratio": 16, "forewarm_simulated_relative_cost_ratio": 16, "forewarm_simulated_window_seconds": 5,
		"forewarm_measured_late_ratio": 4,
	} {
		if seen[name] != want {
			t.Errorf("%d of %s, want %d", seen[name], name, want)
		}
	}
}

// A cost ratio has a margin and an outcome, but no share that could be kept or missed.
func TestObjectiveWithACostRatio(t *testing.T) {
	snapshots := snapshottest.Store(snapshottest.WithCostRatio(snapshottest.Key("priced")))
	compare(t, registry(t, snapshots, snapshottest.Now), `
# HELP forewarm_headroom_multiplier Headroom multiplier k: what is served above the median of the window peak, as a multiple of its spread.
# TYPE forewarm_headroom_multiplier gauge
forewarm_headroom_multiplier{forecast="priced",namespace="inference"} 1.4
`, "forewarm_objective_late_ratio", "forewarm_headroom_multiplier", "forewarm_objective_met")
}
