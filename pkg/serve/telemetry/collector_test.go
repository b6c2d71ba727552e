package telemetry_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/telemetry"
)

// reachable is a condition of all Forecasts.
var reachable = snapshot.Condition{Type: snapshot.ConditionReachable, True: true}

func registry(tb testing.TB, snapshots *snapshot.Store, now func() time.Time) *prometheus.Registry {
	tb.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(
		telemetry.New(snapshots, now, func() []snapshot.Condition { return []snapshot.Condition{reachable} }),
	)
	return r
}

func TestLint(t *testing.T) {
	problems, err := testutil.GatherAndLint(
		registry(t, snapshottest.Store(snapshottest.EveryState()...), snapshottest.Now))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestNothingBeforeTheFirstSnapshot(t *testing.T) {
	families, err := registry(t, &snapshot.Store{}, snapshottest.Now).Gather()
	if err != nil || len(families) != 0 {
		t.Errorf("%d families, error %v", len(families), err)
	}
}

func compare(t *testing.T, r *prometheus.Registry, want string, names ...string) {
	t.Helper()
	if err := testutil.GatherAndCompare(r, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}

func TestValues(t *testing.T) {
	r := registry(t, snapshottest.Store(snapshottest.EveryState()...), snapshottest.Now)
	compare(t, r, `
# HELP forewarm_data_age_seconds Age of the newest sample.
# TYPE forewarm_data_age_seconds gauge
forewarm_data_age_seconds{forecast="falling-back",namespace="inference"} 240
forewarm_data_age_seconds{forecast="objective",namespace="inference"} 30
forewarm_data_age_seconds{forecast="ready",namespace="inference"} 30
forewarm_data_age_seconds{forecast="stale",namespace="inference"} 2520
forewarm_data_age_seconds{forecast="warming",namespace="inference"} 30
# HELP forewarm_forecasts Number of Forecasts by state.
# TYPE forewarm_forecasts gauge
forewarm_forecasts{state="FallingBack"} 1
forewarm_forecasts{state="Invalid"} 1
forewarm_forecasts{state="Pending"} 1
forewarm_forecasts{state="Ready"} 2
forewarm_forecasts{state="Stale"} 1
forewarm_forecasts{state="Warming"} 1
# HELP forewarm_skill_ratio Skill: 1 minus the selected candidate's loss over the last value's loss. The loss is the cost under an objective, else the pinball loss. Above 0 is better than the last value.
# TYPE forewarm_skill_ratio gauge
forewarm_skill_ratio{forecast="falling-back",namespace="inference"} 0.184
forewarm_skill_ratio{forecast="objective",namespace="inference"} 0.184
forewarm_skill_ratio{forecast="ready",namespace="inference"} 0.184
forewarm_skill_ratio{forecast="stale",namespace="inference"} 0.184
# HELP forewarm_source_queries_total Queries sent to the source.
# TYPE forewarm_source_queries_total counter
forewarm_source_queries_total 960
`, "forewarm_data_age_seconds", "forewarm_forecasts", "forewarm_skill_ratio", "forewarm_source_queries_total")
}

// Served is what an HPA would read at this moment: it vanishes when the data goes stale by the clock.
func TestServedGoesWithTheClock(t *testing.T) {
	snapshots := snapshottest.Store(snapshottest.Ready(snapshottest.Key("ready")))
	count := func(now time.Time) int {
		n, err := testutil.GatherAndCount(registry(t, snapshots, func() time.Time { return now }),
			"forewarm_served_value")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if got := count(snapshottest.Now()); got != 1 {
		t.Errorf("%d served while fresh, want 1", got)
	}
	later := snapshottest.Now().Add(11 * time.Minute)
	if got := count(later); got != 0 {
		t.Errorf("%d served while stale, want 0", got)
	}
	compare(t, registry(t, snapshots, func() time.Time { return later }), `
# HELP forewarm_forecast_state 1 for the state that the Forecast is in, 0 for the others.
# TYPE forewarm_forecast_state gauge
forewarm_forecast_state{forecast="ready",namespace="inference",state="FallingBack"} 0
forewarm_forecast_state{forecast="ready",namespace="inference",state="Invalid"} 0
forewarm_forecast_state{forecast="ready",namespace="inference",state="Pending"} 0
forewarm_forecast_state{forecast="ready",namespace="inference",state="Ready"} 0
forewarm_forecast_state{forecast="ready",namespace="inference",state="Stale"} 1
forewarm_forecast_state{forecast="ready",namespace="inference",state="Warming"} 0
`, "forewarm_forecast_state")
}

func TestConditionsAreMetrics(t *testing.T) {
	suspect := snapshottest.Ready(snapshottest.Key("suspect"))
	pending := snapshottest.Pending(snapshottest.Key("pending"))
	suspect.Settings.Mode = decide.Shadow
	compare(t, registry(t, snapshottest.Store(suspect, pending), snapshottest.Now), `
# HELP forewarm_forecast_shadow 1 for a Forecast in shadow mode, whose forecasts are not served, 0 for the others.
# TYPE forewarm_forecast_shadow gauge
forewarm_forecast_shadow{forecast="pending",namespace="inference"} 0
forewarm_forecast_shadow{forecast="suspect",namespace="inference"} 1
`, "forewarm_forecast_shadow")
	suspect.Conditions = []snapshot.Condition{
		{Type: snapshot.ConditionReady, True: true},
		{Type: snapshot.ConditionData, Reason: snapshot.ReasonSuspect},
		{Type: snapshot.ConditionUncalibrated, True: true},
	}
	compare(t, registry(t, snapshottest.Store(suspect, pending), snapshottest.Now), `
# HELP forewarm_forecast_condition 1 while the condition of that type is True, 0 while it is False; absent while the Forecast does not have it.
# TYPE forewarm_forecast_condition gauge
forewarm_forecast_condition{forecast="pending",namespace="inference",type="Reachable"} 1
forewarm_forecast_condition{forecast="pending",namespace="inference",type="Ready"} 0
forewarm_forecast_condition{forecast="suspect",namespace="inference",type="DataClean"} 0
forewarm_forecast_condition{forecast="suspect",namespace="inference",type="Reachable"} 1
forewarm_forecast_condition{forecast="suspect",namespace="inference",type="Ready"} 1
forewarm_forecast_condition{forecast="suspect",namespace="inference",type="Uncalibrated"} 1
`, "forewarm_forecast_condition")
}

func TestForecastHasLevelAndHorizon(t *testing.T) {
	r := registry(t, snapshottest.Store(snapshottest.Ready(snapshottest.Key("ready"))), snapshottest.Now)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]float64)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if v := m.GetGauge().GetValue() + m.GetCounter().GetValue(); math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s is %g", family.GetName(), v)
			}
			if family.GetName() != "forewarm_forecast_value" {
				continue
			}
			var key []string
			for _, l := range m.GetLabel() {
				key = append(key, l.GetName()+"="+l.GetValue())
			}
			seen[strings.Join(key, ",")] = m.GetGauge().GetValue()
		}
	}
	at := func(level string) float64 {
		return seen["forecast=ready,horizon=375,level="+level+",namespace=inference"]
	}
	if len(seen) != 24 || !(at("0.99") > at("0.95") && at("0.95") > at("0.5") && at("0.5") > 0) {
		t.Errorf("%d series: %v", len(seen), seen)
	}
}

func BenchmarkCollectThousand(b *testing.B) {
	quantiles, objectives := snapshottest.Many(1000), snapshottest.Many(1000)
	for _, e := range objectives {
		e.Objective = snapshottest.ObjectiveReport(objective.Met)
	}
	for name, entries := range map[string][]*snapshot.ForecastState{"quantile": quantiles, "objective": objectives} {
		r := registry(b, snapshottest.Store(entries...), snapshottest.Now)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Gather(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
