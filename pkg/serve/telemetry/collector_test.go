package telemetry_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
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

// compare holds metrics to a file.
func compare(t *testing.T, r *prometheus.Registry, file string, names ...string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := testutil.GatherAndCompare(r, bytes.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}

func TestValues(t *testing.T) {
	r := registry(t, snapshottest.Store(snapshottest.EveryState()...), snapshottest.Now)
	compare(t, r, "values.prom", "forewarm_data_age_seconds", "forewarm_forecasts", "forewarm_skill_ratio",
		"forewarm_source_queries_total", "forewarm_source_clock_ahead_seconds")
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
	compare(t, registry(t, snapshots, func() time.Time { return later }), "state.prom", "forewarm_forecast_state")
}

func TestConditionsAreMetrics(t *testing.T) {
	suspect := snapshottest.Ready(snapshottest.Key("suspect"))
	pending := snapshottest.Pending(snapshottest.Key("pending"))
	suspect.Settings.Mode, suspect.Unused = decide.Shadow, true
	compare(t, registry(t, snapshottest.Store(suspect, pending), snapshottest.Now), "shadow.prom",
		"forewarm_forecast_shadow", "forewarm_forecast_unused")
	suspect.Conditions = []snapshot.Condition{
		{Type: snapshot.ConditionReady, True: true},
		{Type: snapshot.ConditionData, Reason: snapshot.ReasonSuspect},
		{Type: snapshot.ConditionUncalibrated, True: true},
	}
	compare(t, registry(t, snapshottest.Store(suspect, pending), snapshottest.Now), "conditions.prom",
		"forewarm_forecast_condition")
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
	for name, entries := range map[string][]*snapshot.ForecastSnapshot{"quantile": quantiles, "objective": objectives} {
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
