package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
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

// PastOptions say of which time it is told, which Prometheus has the history, and whose series its presets count.
type PastOptions struct {
	// From is the time that is told of, or from which on; zero where the flag is not given.
	From       time.Time
	flag       string
	prometheus prometheus.Config
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

// AddFlags adds the flag of the time, and those of the history.
func (o *PastOptions) AddFlags(flags *pflag.FlagSet, name, usage string) {
	o.flag, o.prometheus.Timeout, o.trust = "--"+name, 30*time.Second, signal.DefaultTrust()
	usage += ": a `time` such as 2026-01-31T03:00:00Z, or 3h for three hours ago"
	flags.Func(name, usage, func(text string) (err error) {
		o.From, err = parseTime(text, time.Now())
		return err
	})
	flags.StringVar(&o.prometheus.URL, "prometheus", "",
		"with "+o.flag+": the Prometheus with the history, and with Forewarm's metrics")
	cmdline.AddPrometheusFlags(flags, &o.prometheus)
	cmdline.AddTrustFlags(flags, &o.trust)
}

// Validate returns every problem.
func (o *PastOptions) Validate() error {
	switch {
	case o.From.IsZero() && o.prometheus.URL != "":
		return fmt.Errorf("--prometheus is for %s, which is missing", o.flag)
	case o.From.IsZero():
		return nil
	case o.prometheus.URL == "":
		return fmt.Errorf("%s needs a history: add --prometheus URL", o.flag)
	}
	return errors.Join(o.prometheus.Validate(), cmdline.CheckPrometheus(&o.prometheus))
}

// parseTime is a time in the past: RFC 3339, or how long ago.
func parseTime(text string, now time.Time) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if ago, no := model.ParseDuration(text); no == nil {
		at, err = now.Add(-time.Duration(ago)), nil
	}
	if err != nil || at.After(now) || at.Unix() < 0 {
		return at, errors.New("no time in the past, write for example 2026-01-31T03:00:00Z or 3h")
	}
	return at, nil
}

// Read reads Forecasts of a cluster until a time: at no more than 24 times, each on a step of the Forecast.
func (o *PastOptions) Read(
	ctx context.Context, config *rest.Config, of []snapshot.Key, until time.Time,
) ([]*Past, error) {
	source, err := prometheus.New(o.prometheus)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	var all []*Past
	for _, key := range of {
		forecast, err := client.ReadWithCluster(ctx, config, key.Namespace, key.Name)
		if err != nil {
			return nil, err
		}
		p, err := o.read(ctx, source, &forecast, until)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func (o *PastOptions) read(
	ctx context.Context, source refresh.Source, of *client.ForecastInCluster, until time.Time,
) (*Past, error) {
	const most = 24
	target, problems := manifest.NewResolver(catalogue.Signals{Label: "namespace", Trust: o.trust}).
		ResolveIn(of.Object, of.State)
	if len(problems) > 0 {
		return nil, fmt.Errorf("the Forecast %s is invalid: %s", of.Key, manifest.JoinProblems(problems))
	}
	every := (until.Sub(o.From) / most).Truncate(target.Step) + target.Step
	p := &Past{Forecast: of.Key.String()}
	first := time.Unix(0, o.From.UnixNano()/int64(every)*int64(every))
	for at := first; !at.After(until); at = at.Add(every) {
		p.Moments = append(p.Moments, Moment{Time: at.UTC()})
	}
	if err := p.readRecorded(ctx, source, of.Key, every); err != nil {
		return nil, fmt.Errorf("read the gauges of Forewarm: %w", err)
	}
	err := p.replay(ctx, source, &target, o.prometheus.Timeout)
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
			*field(&p.Moments[i].Recorded) = cmdline.OrNull(v)
		}
		known = true
	}
	if !known {
		const nothing = "Nothing was recorded: the Prometheus has no series forewarm_served_value, forewarm_observed_value or " +
			"forewarm_workload_replicas with {%s} at that time. Does it scrape Forewarm (serviceMonitor.enabled of the chart)?"
		p.Notes = append(p.Notes, fmt.Sprintf(nothing, labels))
	}
	return nil
}

// replay steps the server's loop at each moment.
func (p *Past) replay(ctx context.Context, source refresh.Source, target *refresh.Job, timeout time.Duration) error {
	const patience = 24 * time.Hour // A step waits for its queries, which have timeouts of their own.
	loop, err := refresh.New(refresh.Config{Timeout: timeout, Grace: patience}.WithDefaults(), source, only{*target},
		new(snapshot.Store), slog.New(slog.DiscardHandler))
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
			State: string(e.StateAt(m.Time)), Model: e.Model, Observed: cmdline.OrNull(e.Observed),
			Reason: e.ReadyMessage(),
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
type only struct{ target refresh.Job }

// Targets implements refresh.Jobs.
func (o only) Targets(time.Time) []refresh.Job { return []refresh.Job{o.target} }

const heads = "\tRECORDED\t\t\t\tTODAY'S SPEC\t\t\nTIME\tOBSERVED\tSERVED\tWANTED\tREADY\tOBSERVED\tSERVED\tSTATE"

const legend = `
RECORDED is what Forewarm's own gauges say was served and done then. TODAY'S SPEC is what the spec, the autoscalers and the
lead time of now would have served, replayed on the history until then.
`

// WritePast writes Forecasts for scripts, or a table for each, with the reason if it is of one moment.
func WritePast(out io.Writer, output *cmdline.Output, all []*Past) error {
	if output.ForScripts() {
		return output.Write(out, all)
	}
	for _, p := range all {
		fmt.Fprintf(out, "Forecast %s (UTC)\n\n", p.Forecast)
		var lines [][]string
		for i := range p.Moments {
			was, now := &p.Moments[i].Recorded, &p.Moments[i].TodaysSpec
			cells := []string{p.Moments[i].Time.Format(time.DateTime)}
			for _, v := range []*float64{was.Observed, was.Served, was.Wanted, was.Ready, now.Observed, now.Served} {
				cells = append(cells, humanize.Optional(v, humanize.Number))
			}
			lines = append(lines, append(cells, now.State))
		}
		if err := cmdline.Table(out, heads, lines); err != nil {
			return err
		}
		if len(p.Moments) == 1 {
			fmt.Fprintf(out, "\nWhy, by today's spec: %s.\n", p.Moments[0].TodaysSpec.Reason)
		}
		for _, note := range p.Notes {
			fmt.Fprintf(out, "\n%s\n", note)
		}
		fmt.Fprint(out, legend)
	}
	return nil
}
