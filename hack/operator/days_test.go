package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/serve/telemetry"
)

const step = 30 * time.Second

// Fetch is the source of a day.
func (d *day) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	if d.fail != nil && q.To.After(event()) {
		if err := d.fail(q.To.Sub(event())); err != nil {
			return forecast.Series{}, err
		}
	}
	out := forecast.Series{Start: q.From, Step: q.Step, Values: make([]float64, q.Points())}
	for i := range out.Values {
		at := out.TimeAt(i)
		switch usual := usual(at); {
		case q.Expr == "silent":
			out.Values[i] = 2
		case q.Expr == "unowned":
			out.Values[i] = 4
		case q.Expr == "ready":
			out.Values[i] = 5
		case q.Expr == "saturated":
			if d.saturated && at.After(event()) {
				out.Values[i] = 1
			}
		case d.demand == nil:
			out.Values[i] = usual
		default:
			out.Values[i] = d.demand(at.Sub(event()), usual)
		}
	}
	return out, nil
}

// usual is a day's cycle with a ripple.
func usual(t time.Time) float64 {
	hours := float64(t.Unix()) / 3600
	return 200 + 90*math.Sin(2*math.Pi*hours/24) + 9*math.Sin(hours*23) + 4*math.Sin(hours*517)
}

// Targets is the one Forecast of a day.
func (d *day) List(now time.Time) []refresh.Job {
	if since := now.Sub(event()); since >= 0 && since < d.gone {
		return nil
	}
	t := refresh.Job{
		Key: snapshot.Key{
			Namespace: "ai",
			Name:      "llama",
		},
		Generation: 1,
		Expr:       "demand",
		Step:       step,
		History:    14 * 24 * time.Hour,
		Lead:       5 * minute,
		LeadSource: "fixed",
		StaleAfter: 10 * minute,
		Settings:   decide.Settings{Quantile: 0.95, Lead: 5 * minute},
		Models:     []string{"ses", "holt-winters"},
	}
	if d.change != nil {
		d.change(&t, now)
	}
	return []refresh.Job{t}
}

// player plays a day, and keeps what is scraped of it each minute.
type player struct {
	day       *day
	loop      *refresh.Loop
	snapshots snapshot.Store
	now       time.Time
	scraped   map[string][]string
	minutes   int
	// changes counts how often each condition came, went or changed.
	changes map[string]int
	before  map[string]string
}

func (p *player) start(t *testing.T) {
	t.Helper()
	var err error
	p.loop, err = refresh.New(refresh.Config{Grace: 10 * time.Second}, p.day, p.day, &p.snapshots,
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
}

func (p *player) to(t *testing.T, end time.Time) *snapshot.ForecastSnapshot {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(telemetry.New(&p.snapshots, func() time.Time { return p.now }, nil))
	for ; !p.now.After(end); p.now = p.now.Add(step) {
		if since := p.now.Sub(event()); p.day.down && since >= 0 && since < p.day.restart {
			p.now = event().Add(p.day.restart)
		}
		if p.day.restart > 0 && p.now.Equal(event().Add(p.day.restart)) {
			p.snapshots.Publish(snapshot.New(p.now, nil, 0, snapshot.LoopStats{}))
			p.start(t)
		}
		entries := p.loop.Step(t.Context(), p.now).Entries("")
		if len(entries) > 0 {
			p.noteChanges(entries[0])
		}
		if p.now.Sub(event())%minute == 0 {
			p.scrape(t, registry)
		}
	}
	return p.snapshots.Load().Entries("")[0]
}

func (p *player) noteChanges(e *snapshot.ForecastSnapshot) {
	now := map[string]string{}
	for _, c := range e.Conditions {
		now[c.Type] = fmt.Sprint(c.True, c.Reason)
	}
	for _, kind := range []string{snapshot.ConditionSource, data, signal} {
		if p.before != nil && p.before[kind] != now[kind] {
			p.changes[kind]++
		}
	}
	p.before = now
}

// scrape keeps the samples of the Forecast's states and conditions. A series that is gone is stale.
func (p *player) scrape(t *testing.T, registry *prometheus.Registry) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	p.minutes++
	for _, f := range families {
		if name := f.GetName(); name == "forewarm_forecast_state" || name == "forewarm_forecast_condition" {
			for _, m := range f.GetMetric() {
				p.keep(name+labelsOf(m), fmt.Sprint(m.GetGauge().GetValue()))
			}
		}
	}
	for name := range p.scraped {
		if len(p.scraped[name]) < p.minutes {
			p.keep(name, "stale")
		}
	}
}

func labelsOf(m *dto.Metric) string {
	labels := []string{}
	for _, l := range m.GetLabel() {
		labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	return "{" + strings.Join(labels, ",") + "}"
}

func (p *player) keep(series, value string) {
	for len(p.scraped[series]) < p.minutes-1 {
		p.scraped[series] = append(p.scraped[series], "_")
	}
	p.scraped[series] = append(p.scraped[series], value)
}

// rule is an alert.
type rule struct {
	Alert, Expr, For string
}

func rules(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash("../../deploy/charts/forewarm/files/alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []rule `json:"rules"`
		} `json:"groups"`
	}
	if err = yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Groups[0].Rules
}

// fired is after how long each alert fires for the first time, after the first scrape.
func (p *player) fired(t *testing.T) map[string]time.Duration {
	t.Helper()
	var script strings.Builder
	script.WriteString("load 1m\n")
	for series, values := range p.scraped {
		fmt.Fprintf(&script, "  %s %s\n", series, strings.Join(values, " "))
	}
	storage := promqltest.LoadedStorage(t, script.String())
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: minute})
	out := map[string]time.Duration{}
	for _, r := range rules(t) {
		if r.Alert != notServed && r.Alert != suspect {
			continue // Of other metrics.
		}
		wait, err := time.ParseDuration(r.For)
		if err != nil {
			t.Fatal(err)
		}
		active := time.Duration(-1)
		for i := range p.minutes {
			at := time.Duration(i) * minute
			query, err := engine.NewInstantQuery(t.Context(), storage, nil, r.Expr, time.Unix(0, 0).Add(at))
			if err != nil {
				t.Fatal(err)
			}
			vector, err := query.Exec(t.Context()).Vector()
			switch {
			case err != nil:
				t.Fatal(err)
			case len(vector) == 0:
				active = -1
			case active < 0:
				active = at
			}
			if _, before := out[r.Alert]; active >= 0 && at-active >= wait && !before {
				out[r.Alert] = at
			}
			query.Close()
		}
	}
	return out
}

// TestDays plays each day: what is served of it, which condition it has, and which alert fires within how long.
func TestDays(t *testing.T) {
	t.Parallel()
	for _, d := range played() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			play(t, &d)
		})
	}
}

func play(t *testing.T, d *day) {
	t.Helper()
	const checkedAfter = 10 * minute
	p := &player{day: d, now: event().Add(-5 * minute), scraped: map[string][]string{}, changes: map[string]int{}}
	p.start(t)
	before := p.to(t, event().Add(-step)).Decision.Value
	p.scraped, p.minutes = map[string][]string{}, 0
	e := p.to(t, event().Add(d.After))
	if want := cmp.Or(d.State, "Ready"); string(e.State) != want {
		t.Errorf("the state is %s, want %s", e.ReadyMessage(), want)
	}
	if answer, err := e.Answer(decide.Overrides{}, p.now.Add(-step)); (err != nil) != (d.most == 0) {
		t.Errorf("serves %v, %v", answer.Value, err)
	} else if share := answer.Value / before; d.most > 0 && !(share >= d.least && share <= d.most) {
		t.Errorf("serves %.4g of %.4g, want %g to %g times that: %s", answer.Value, before, d.least, d.most,
			e.ReadyMessage())
	}
	bad := map[string]string{}
	for _, c := range e.Conditions {
		if !c.True && c.Type != snapshot.ConditionReady {
			bad[c.Type] = c.Reason
		}
	}
	if fmt.Sprint(bad) != fmt.Sprint(d.Conditions) {
		t.Errorf("the conditions %v are False, want %v", bad, d.Conditions)
	}
	p.to(t, event().Add(d.After+checkedAfter))
	fired := p.fired(t)
	for alert, after := range fired {
		if alert != d.Alert {
			t.Errorf("%s fires after %s", alert, after)
		}
	}
	if after, ok := fired[d.Alert]; d.Alert != "" && (!ok || after > d.Within) {
		t.Errorf("%s fires %v, after %s, want within %s", d.Alert, ok, after, d.Within)
	}
	for kind, n := range p.changes {
		if hours := math.Ceil((d.After + checkedAfter).Hours()); float64(n) > 2*hours {
			t.Errorf("the condition %s changed %d times in %.0f hours, want at most twice an hour", kind, n, hours)
		}
	}
}
