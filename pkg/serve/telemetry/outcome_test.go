package telemetry_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// fares are Forecasts in each verdict, one whose report knows no number, and one without any.
func fares() *snapshot.Board {
	out := []*snapshot.Entry{snapshottest.Ready(snapshottest.Key("quantile"))}
	for name, verdict := range map[string]outcome.Verdict{
		"met": outcome.Met, "learning": outcome.Learning, "max": outcome.AtMaxReplicas, "lead": outcome.FasterThanLead,
	} {
		e := snapshottest.Outcome(snapshottest.Key(name))
		e.Outcome = snapshottest.Report(verdict)
		out = append(out, e)
	}
	nothing := snapshottest.Outcome(snapshottest.Key("nothing"))
	nan := math.NaN()
	nothing.Outcome = &outcome.Report{
		Late: 0.02, Verdict: outcome.Learning, Over: time.Minute,
		Scalings: []outcome.Scaled{{K: nan, Expected: math.Inf(1)}},
		Served:   outcome.Account{Arrived: nan, Late: nan, Paid: nan},
	}
	return snapshottest.Board(append(out, nothing)...)
}

func TestOutcome(t *testing.T) {
	compare(t, registry(t, fares(), snapshottest.Now), `
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
# HELP forewarm_objective_margin Headroom multiplier k: what is served above the median of the window peak, as a multiple of its spread.
# TYPE forewarm_objective_margin gauge
forewarm_objective_margin{forecast="lead",namespace="inference"} 6.5
forewarm_objective_margin{forecast="learning",namespace="inference"} 1.9
forewarm_objective_margin{forecast="max",namespace="inference"} 1.3
forewarm_objective_margin{forecast="met",namespace="inference"} 1.3
# HELP forewarm_objective_met Whether the objective is met (1) or not (0); absent while there is too little history, and with a cost ratio.
# TYPE forewarm_objective_met gauge
forewarm_objective_met{forecast="lead",namespace="inference"} 0
forewarm_objective_met{forecast="max",namespace="inference"} 0
forewarm_objective_met{forecast="met",namespace="inference"} 1
# HELP forewarm_outcome_replica_seconds Replica time over the outcome's window, by policy. Multiply by the GPUs of a replica for GPU time.
# TYPE forewarm_outcome_replica_seconds gauge
forewarm_outcome_replica_seconds{forecast="lead",namespace="inference",policy="observed"} 1.1916e+06
forewarm_outcome_replica_seconds{forecast="lead",namespace="inference",policy="served"} 1.0656e+06
forewarm_outcome_replica_seconds{forecast="learning",namespace="inference",policy="observed"} 39600
forewarm_outcome_replica_seconds{forecast="learning",namespace="inference",policy="served"} 43200
forewarm_outcome_replica_seconds{forecast="max",namespace="inference",policy="observed"} 1.1916e+06
forewarm_outcome_replica_seconds{forecast="max",namespace="inference",policy="served"} 1.0656e+06
forewarm_outcome_replica_seconds{forecast="met",namespace="inference",policy="observed"} 1.1916e+06
forewarm_outcome_replica_seconds{forecast="met",namespace="inference",policy="served"} 1.0656e+06
forewarm_outcome_replica_seconds{forecast="nothing",namespace="inference",policy="observed"} 0
`, "forewarm_objective_expected_late_ratio", "forewarm_objective_late_ratio", "forewarm_objective_margin",
		"forewarm_objective_met", "forewarm_outcome_replica_seconds")
}

// Late and cost are there for whom demand came, and no number is not one.
func TestOutcomeOfDemand(t *testing.T) {
	families, err := registry(t, fares(), snapshottest.Now).Gather()
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
		"forewarm_outcome_late_ratio": 8, "forewarm_outcome_cost_ratio": 8, "forewarm_outcome_window_seconds": 5,
	} {
		if seen[name] != want {
			t.Errorf("%d of %s, want %d", seen[name], name, want)
		}
	}
}

// A cost ratio has a margin and an outcome, but no share that could be kept or missed.
func TestOutcomeAtACostRatio(t *testing.T) {
	board := snapshottest.Board(snapshottest.Priced(snapshottest.Key("priced")))
	compare(t, registry(t, board, snapshottest.Now), `
# HELP forewarm_objective_margin Headroom multiplier k: what is served above the median of the window peak, as a multiple of its spread.
# TYPE forewarm_objective_margin gauge
forewarm_objective_margin{forecast="priced",namespace="inference"} 1.4
`, "forewarm_objective_late_ratio", "forewarm_objective_margin", "forewarm_objective_met")
}
