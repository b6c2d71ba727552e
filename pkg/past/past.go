// Package past reads Forecasts at earlier times. The gauges that a Prometheus has recorded show what Forewarm served and how many
// replicas there were. The server's own loop, run on the history up to that time, shows what today's spec would have served.
package past

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Config says which times to read, which Prometheus has the history, and whose series the presets trust.
type Config struct {
	// From is the first time.
	From       time.Time
	Prometheus prometheus.Config
	Trust      signal.Trust
}

// Forecast is a Forecast at earlier times.
type Forecast struct {
	// Key is NAMESPACE/NAME.
	Key string `json:"forecast"`
	// Notes are sentences about missing data.
	Notes   []string `json:"notes,omitempty"`
	Moments []Moment `json:"moments"`
}

// Moment is one time. Unknown values are nil.
type Moment struct {
	Time       time.Time `json:"time"`
	Recorded   Recorded  `json:"recorded"`
	TodaysSpec Replayed  `json:"todaysSpec"`
}

// Recorded contains the values that Forewarm served, and the replicas.
type Recorded struct {
	Observed *float64 `json:"observed"`
	Served   *float64 `json:"served"`
	Wanted   *float64 `json:"replicasWanted"`
	Ready    *float64 `json:"replicasReady"`
}

// Replayed contains what today's spec would have served, and why.
type Replayed struct {
	Observed *float64 `json:"observed"`
	Served   *float64 `json:"served"`
	State    string   `json:"state"`
	Model    string   `json:"model,omitempty"`
	Reason   string   `json:"reason"`
}

// Read reads Forecasts of a cluster until a time: at no more than 24 times, each on a step of the Forecast.
func Read(
	ctx context.Context, c Config, cluster *rest.Config, keys []snapshot.Key, until time.Time,
) ([]*Forecast, error) {
	source, err := prometheus.New(c.Prometheus)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	resolver := manifest.NewResolver(catalogue.Signals{Label: "namespace", Trust: c.Trust})
	var all []*Forecast
	for _, key := range keys {
		of, err := client.ReadWithCluster(ctx, cluster, key.Namespace, key.Name)
		if err != nil {
			return nil, err
		}
		target, problems := resolver.ResolveIn(of.Object, of.State)
		if len(problems) > 0 {
			return nil, fmt.Errorf("the Forecast %s is invalid: %s", of.Key, manifest.JoinProblems(problems))
		}
		const most = 24
		every := (until.Sub(c.From) / most).Truncate(target.Step) + target.Step
		f := &Forecast{Key: of.Key.String()}
		first := time.Unix(0, c.From.UnixNano()/int64(every)*int64(every))
		for at := first; !at.After(until); at = at.Add(every) {
			f.Moments = append(f.Moments, Moment{Time: at.UTC()})
		}
		if err := f.readRecorded(ctx, source, of.Key, every); err != nil {
			return nil, fmt.Errorf("read the gauges of Forewarm: %w", err)
		}
		if err := f.replay(ctx, source, &target, c.Prometheus.Timeout); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// readRecorded reads Forewarm's gauges. Each of its replicas has them.
func (f *Forecast) readRecorded(
	ctx context.Context, source refresh.Source, of snapshot.Key, every time.Duration,
) error {
	labels := fmt.Sprintf("namespace=%q,forecast=%q", of.Namespace, of.Name)
	recorded := false
	for expr, field := range map[string]func(*Recorded) **float64{
		"forewarm_observed_value{%s}":                   func(r *Recorded) **float64 { return &r.Observed },
		"forewarm_served_value{%s}":                     func(r *Recorded) **float64 { return &r.Served },
		`forewarm_workload_replicas{%s,state="wanted"}`: func(r *Recorded) **float64 { return &r.Wanted },
		`forewarm_workload_replicas{%s,state="ready"}`:  func(r *Recorded) **float64 { return &r.Ready },
	} {
		got, err := source.Fetch(ctx, refresh.Query{
			Namespace: of.Namespace, Expr: "max(" + fmt.Sprintf(expr, labels) + ")",
			From: f.Moments[0].Time, To: f.Moments[len(f.Moments)-1].Time, Step: every,
		})
		if errors.Is(err, series.ErrNoSeries) {
			continue
		}
		if err != nil {
			return err
		}
		for i, v := range got.Values {
			*field(&f.Moments[i].Recorded) = known(v)
		}
		recorded = true
	}
	if !recorded {
		const nothing = "There is no record of the served values: the Prometheus has no series forewarm_served_value, " +
			"forewarm_observed_value or forewarm_workload_replicas with {%s} at that time. Check that it scrapes Forewarm " +
			"(serviceMonitor.enabled in the chart)."
		f.Notes = append(f.Notes, fmt.Sprintf(nothing, labels))
	}
	return nil
}

// replay steps the server's loop at each moment.
func (f *Forecast) replay(
	ctx context.Context, source refresh.Source, target *refresh.Job, timeout time.Duration,
) error {
	const patience = 24 * time.Hour // A step waits for its queries, which have timeouts of their own.
	loop, err := refresh.New(refresh.Config{Timeout: timeout, Grace: patience}.WithDefaults(), source, only{*target},
		new(snapshot.Store), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	for i := range f.Moments {
		m := &f.Moments[i]
		e := loop.Step(ctx, m.Time).Get(target.Key)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted: %w", context.Cause(ctx))
		}
		state := string(e.StateAt(m.Time))
		m.TodaysSpec = Replayed{State: state, Model: e.Model, Observed: known(e.Observed), Reason: e.ReadyMessage()}
		if answer, err := e.Answer(decide.Overrides{}, m.Time); err == nil {
			m.TodaysSpec.Served, m.TodaysSpec.Reason = &answer.Value, e.Decision.Reason()
		}
	}
	if first := &f.Moments[0].TodaysSpec; first.State != string(snapshot.Ready) {
		f.Notes = append(f.Notes, fmt.Sprintf("The replay needs %s of history before each time, but there is less: %s.",
			humanize.Span(target.History), strings.TrimSuffix(first.Reason, ".")))
	}
	return nil
}

// only is the loop's one target.
type only struct{ target refresh.Job }

// List implements refresh.Jobs.
func (o only) List(time.Time) []refresh.Job { return []refresh.Job{o.target} }

// known is nil for an unknown number.
func known(v float64) *float64 {
	if !humanize.Known(v) {
		return nil
	}
	return &v
}
