// Package past tells of a Forecast at earlier times: what was served and done then, by the gauges of Forewarm that a Prometheus
// has recorded; and what today's spec would have served, by the server's own loop on the history until then.
package past

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/server"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Options say which Prometheus has the history, and whose series its presets count.
type Options struct {
	Prometheus prometheus.Config
	trust      signal.Trust
}

// Past is a Forecast at earlier times.
type Past struct {
	Forecast string `json:"forecast"`
	// Notes are sentences about what is not known.
	Notes   []string `json:"notes,omitempty"`
	Moments []Moment `json:"moments"`
}

// Moment is one time. What is not known is nil.
type Moment struct {
	Time       time.Time `json:"time"`
	Recorded   Recorded  `json:"recorded"`
	TodaysSpec Replayed  `json:"todaysSpec"`
}

// Recorded is what was served and done.
type Recorded struct {
	Observed *float64 `json:"observed"`
	Served   *float64 `json:"served"`
	Wanted   *float64 `json:"replicasWanted"`
	Ready    *float64 `json:"replicasReady"`
}

// Replayed is what today's spec would have served, and why.
type Replayed struct {
	Observed *float64 `json:"observed"`
	Served   *float64 `json:"served"`
	State    string   `json:"state"`
	Model    string   `json:"model,omitempty"`
	Reason   string   `json:"reason"`
}

// AddFlags binds the options; of is the flag that they belong to.
func (o *Options) AddFlags(flags *pflag.FlagSet, of string) {
	o.Prometheus.Timeout, o.trust = 30*time.Second, signal.DefaultTrust()
	flags.StringVar(&o.Prometheus.URL, "prometheus", "",
		"with "+of+": the Prometheus with the history, and with Forewarm's metrics")
	cmdline.AddPrometheusFlags(flags, &o.Prometheus)
	cmdline.AddTrustFlags(flags, &o.trust)
}

// Validate returns every problem.
func (o *Options) Validate(of string) error {
	if o.Prometheus.URL == "" {
		return fmt.Errorf("%s needs a history: add --prometheus URL", of)
	}
	return errors.Join(o.Prometheus.Validate(), cmdline.CheckPrometheus(&o.Prometheus))
}

// ParseTime is a time in the past: RFC 3339, or how long ago, as in 3h, -3h and "3h ago".
func ParseTime(text string, now time.Time) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if ago, no := model.ParseDuration(strings.TrimPrefix(strings.TrimSuffix(text, " ago"), "-")); no == nil {
		at, err = now.Add(-time.Duration(ago)), nil
	}
	if err != nil || at.After(now) || at.Unix() < 0 {
		return at, fmt.Errorf("%.64q is no time in the past, write for example 2026-01-31T03:00:00Z or 3h", text)
	}
	return at, nil
}

// Read reads a Forecast of a cluster in that state, from one time to another: at so many of them that one more would not fit,
// each on a step of the Forecast.
func (o *Options) Read(ctx context.Context, of Forecast, from, to time.Time, most int) (*Past, error) {
	target, problems := manifest.NewResolver(server.Catalogue{Label: "namespace", Trust: o.trust}).
		ResolveIn(of.Object, of.State)
	if len(problems) > 0 {
		return nil, fmt.Errorf("the Forecast %s is invalid: %s", of.Key, manifest.JoinProblems(problems))
	}
	source, err := prometheus.New(o.Prometheus)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	every := (to.Sub(from) / time.Duration(most)).Truncate(target.Step) + target.Step
	p := &Past{Forecast: of.Key.String()}
	first := time.Unix(0, from.UnixNano()/int64(every)*int64(every))
	for at := first; !at.After(to); at = at.Add(every) {
		p.Moments = append(p.Moments, Moment{Time: at.UTC()})
	}
	if err = p.readRecorded(ctx, source, of.Key, every); err != nil {
		return nil, fmt.Errorf("read the gauges of Forewarm: %w", err)
	}
	err = p.replay(ctx, source, &target, o.Prometheus.Timeout)
	return p, err
}

// readRecorded reads Forewarm's gauges. Each of its replicas has them.
func (p *Past) readRecorded(ctx context.Context, source refresh.Source, of snapshot.Key, every time.Duration) error {
	labels := fmt.Sprintf("namespace=%q,forecast=%q", of.Namespace, of.Name)
	known := false
	for expr, field := range map[string]func(*Recorded) **float64{
		"forewarm_observed_value{%s}":                   func(r *Recorded) **float64 { return &r.Observed },
		"forewarm_served_value{%s}":                     func(r *Recorded) **float64 { return &r.Served },
		`forewarm_workload_replicas{%s,state="wanted"}`: func(r *Recorded) **float64 { return &r.Wanted },
		`forewarm_workload_replicas{%s,state="ready"}`:  func(r *Recorded) **float64 { return &r.Ready },
	} {
		got, err := source.Fetch(ctx, refresh.Query{
			Namespace: of.Namespace, Expr: "max(" + fmt.Sprintf(expr, labels) + ")",
			From: p.Moments[0].Time, To: p.Moments[len(p.Moments)-1].Time, Step: every,
		})
		if errors.Is(err, series.ErrNoSeries) {
			continue
		}
		if err != nil {
			return err
		}
		for i, v := range got.Values {
			*field(&p.Moments[i].Recorded) = orNil(v)
		}
		known = true
	}
	if !known {
		p.Notes = append(
			p.Notes,
			fmt.Sprintf("Nothing was recorded: the Prometheus has no series forewarm_served_value, "+
				"forewarm_observed_value or forewarm_workload_replicas with {%s} at that time. Does it scrape Forewarm "+
				"(serviceMonitor.enabled of the chart)?", labels),
		)
	}
	return nil
}

// orNil is nil for what is not known.
func orNil(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// replay steps the server's loop at each moment.
func (p *Past) replay(ctx context.Context, source refresh.Source, target *refresh.Target, timeout time.Duration) error {
	const patience = 24 * time.Hour // A step waits for its queries, which have timeouts of their own.
	loop, err := refresh.New(refresh.Config{Timeout: timeout, Grace: patience}.WithDefaults(), source, only{*target},
		new(snapshot.Board), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	for i := range p.Moments {
		m := &p.Moments[i]
		e := loop.Step(ctx, m.Time).Get(target.Key)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted: %w", context.Cause(ctx))
		}
		m.TodaysSpec = Replayed{
			State: string(e.StateAt(m.Time)), Model: e.Model, Observed: orNil(e.Observed), Reason: e.ReadyMessage(),
		}
		if answer, err := e.Answer(decide.Overrides{}, m.Time); err == nil {
			m.TodaysSpec.Served, m.TodaysSpec.Reason = &answer.Value, e.Decision.Reason()
		}
	}
	if first := &p.Moments[0].TodaysSpec; first.State != string(snapshot.Ready) {
		p.Notes = append(p.Notes, fmt.Sprintf("The replay needs the %s of history before each time, and has less: %s.",
			humanize.Span(target.History), strings.TrimSuffix(first.Reason, ".")))
	}
	return nil
}

// only is the loop's one target.
type only struct{ target refresh.Target }

// Targets implements refresh.Targets.
func (o only) Targets(time.Time) []refresh.Target { return []refresh.Target{o.target} }
