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
	out := []*snapshot.ForecastSnapshot{snapshottest.Ready(snapshottest.Key("quantile"))}
	for name, verdict := range map[string]objective.Verdict{
		"met": objective.Met, "learning": objective.Learning, "max": objective.AtMaxReplicas, "lead": objective.FasterThanLead,
	} {
		e := snapshottest.WithObjective(snapshottest.Key(name))
		e.Objective = snapshottest.ObjectiveReport(verdict)
		e.Objective.Measured = &objective.Measured{Late: 0.029}
		if verdict == objective.Met {
			e.Objective.Deferrable = &objective.Deferrable{Arrived: 20, Missed: 1, Waiting: 0.5}
		}
		e.Usage = []snapshot.Usage{
			{
				Policy:       snapshot.PolicyServed,
				Variant:      "spot",
				ReplicaHours: 2,
				Price:        1.5,
			},
			{Policy: snapshot.PolicyBefore, Variant: "own", ReplicaHours: 3},
		}
		out = append(out, e)
	}
	nothing := snapshottest.WithObjective(snapshottest.Key("nothing"))
	nan := math.NaN()
	nothing.Objective = &objective.Report{
		Late: 0.02, Verdict: objective.Learning, Period: time.Minute,
		Autoscalers: []objective.AutoscalerReport{{Headroom: nan, ExpectedLate: math.Inf(1)}},
		Served:      objective.Account{Arrived: nan, Late: nan, ReplicaHours: nan},
		Measured:    &objective.Measured{Late: nan},
		Budget:      objective.Budget{Allowed: nan, Spent: nan, BurnHour: nan, BurnSixHours: nan},
	}
	return snapshottest.Store(append(out, nothing)...)
}

func TestObjective(t *testing.T) {
	compare(
		t,
		registry(t, objectivesBoard(), snapshottest.Now),
		"objective.prom",
		"forewarm_objective_expected_late_ratio",
		"forewarm_objective_late_ratio",
		"forewarm_headroom_multiplier",
		"forewarm_objective_met",
		"forewarm_simulated_replica_seconds",
		"forewarm_objective_budget_allowed_replica_seconds",
		"forewarm_objective_budget_spent_replica_seconds",
		"forewarm_objective_burn_rate",
		"forewarm_replica_seconds_total",
		"forewarm_cost_total",
		"forewarm_replica_hourly_cost",
	)
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
		"forewarm_deferrable_missed_ratio": 1, "forewarm_deferrable_waiting_replica_seconds": 1,
		"forewarm_simulated_late_ratio": 16, "forewarm_simulated_relative_cost_ratio": 16, "forewarm_simulated_window_seconds": 5,
		"forewarm_measured_late_ratio": 4,
	} {
		if seen[name] != want {
			t.Errorf("%d of %s, want %d", seen[name], name, want)
		}
	}
}

// TestBadHours: an objective by bad hours has its own share, and the worst hours are named.
func TestBadHours(t *testing.T) {
	snapshots := snapshottest.Store(snapshottest.WithBadHours(snapshottest.Key("llama")))
	compare(t, registry(t, snapshots, snapshottest.Now), "bad-hours.prom", "forewarm_objective_late_ratio",
		"forewarm_objective_bad_hour_ratio", "forewarm_bad_hour_late_ratio")
}

// A cost ratio has a margin and an outcome, but no share that could be kept or missed.
func TestObjectiveWithACostRatio(t *testing.T) {
	snapshots := snapshottest.Store(snapshottest.WithCostRatio(snapshottest.Key("priced")))
	compare(t, registry(t, snapshots, snapshottest.Now), "cost-ratio.prom", "forewarm_objective_late_ratio",
		"forewarm_headroom_multiplier", "forewarm_objective_met")
}
