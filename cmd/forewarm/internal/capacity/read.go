package capacity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/offline/capacity"
	"github.com/forewarm/forewarm/pkg/signal"
)

// report is what was read and what it comes to.
type report struct {
	demand   history.History
	observed capacity.History
	estimate capacity.Estimate
	unit     string
	notes    []string
}

// read reads the three histories, on one grid.
func (o *options) read(
	ctx context.Context, in io.Reader, a queries, bar *cmdline.ProgressBar,
) (report, error) {
	r := report{unit: a.unit}
	// What comes on stdin comes once, and is read three times.
	var kept bytes.Buffer
	in = io.TeeReader(in, &kept)
	now := time.Now()
	var err error
	if r.demand, err = o.one(ctx, in, a.demand, now, bar); err != nil {
		return r, fmt.Errorf("demand: %w", err)
	}
	if a.title != "" { // A preset's query is longer than anyone reads.
		at := strings.LastIndex(r.demand.Source, " at ")
		r.demand.Source = a.title + r.demand.Source[max(at, 0):]
	}
	saturated, err := o.one(ctx, bytes.NewReader(kept.Bytes()), a.saturated, now, bar)
	if err != nil {
		return r, fmt.Errorf("saturation: %w%s", err, hint(err,
			"where the query compares, as in … > 5, and never held, compare with >= bool, which says 0 then"))
	}
	ready, err := o.one(ctx, bytes.NewReader(kept.Bytes()), a.replicas, now, bar)
	if err != nil {
		return r, fmt.Errorf("ready replicas: %w%s", err, hint(err,
			"is kube-state-metrics scraped? Else name a query of them with --replicas"))
	}
	r.observed = capacity.History{
		Step: r.demand.Step, Demand: r.demand.Values, Ready: ready.Values, Saturated: saturated.Values,
	}
	for what, h := range map[string]history.History{"demand": r.demand, "ready replicas": ready} {
		for _, note := range h.Notes {
			r.notes = append(r.notes, what+": "+note)
		}
	}
	return r, nil
}

// one reads a query, or a column.
func (o *options) one(
	ctx context.Context, in io.Reader, what string, now time.Time, bar *cmdline.ProgressBar,
) (history.History, error) {
	of := o.history
	if of.Trace != "" {
		of.Column = what
	} else {
		of.Query = what
	}
	return of.Read(ctx, in, now, bar)
}

// hint is added to an error that says that there is no series.
func hint(err error, text string) string {
	if errors.Is(err, series.ErrNoSeries) {
		return "; " + text
	}
	return ""
}

// queries is what is read: queries of a Prometheus, or columns of a trace.
type queries struct {
	demand, saturated, replicas string
	// unit of the demand, and what a preset's query is called; "" where unknown.
	unit, title string
}

// promQL are those that the flags name, and the preset's and the target's for the rest.
func (o *options) promQL() (queries, error) {
	a := queries{demand: o.history.Query, saturated: o.saturated, replicas: o.replicas}
	problems := []error{o.trust.Validate()}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for name, column := range map[string]string{"saturated-column": o.saturatedColumn, "replicas-column": o.replicasColumn} {
		if column != "" {
			wrong("--%s needs --trace, leave it out", name)
		}
	}
	if a.demand != "" && o.preset != "" {
		wrong("--query and --preset both define the demand, keep one")
	}
	target, err := o.workload()
	if err != nil {
		return a, errors.Join(append(problems, err)...)
	}
	if o.preset != "" {
		problems = append(problems, o.fromPreset(&a, target))
	}
	if a.saturated == "" && o.preset == "" {
		wrong("set --saturated, PromQL above 0 while the service is at its limit: ideally the length of its queue")
	}
	if a.replicas == "" && target != nil {
		if a.replicas, err = signal.ReadyReplicas(o.namespace, *target, o.trust); err != nil {
			wrong("%w: set --replicas, PromQL of them", err)
		}
	} else if a.replicas == "" {
		wrong("set --target and --namespace, whose replicas count, or --replicas, PromQL of them")
	}
	return a, errors.Join(problems...)
}

// workload is the target, nil where none is named.
func (o *options) workload() (*signal.Target, error) {
	switch {
	case o.target == "" && o.preset != "":
		return nil, errors.New(
			"--preset needs the workload: set --target, for example deployment/llama, and --namespace",
		)
	case o.target == "":
		return nil, nil //nolint:nilnil // No target is no mistake.
	case o.namespace == "":
		return nil, errors.New("set --namespace, the target's")
	}
	target, err := cmdline.ParseTarget(o.target)
	return &target, err
}

// fromPreset fills in the demand and, unless it is named, the queue of the same server. The name of a server alone is that of
// its requests in flight.
func (o *options) fromPreset(a *queries, target *signal.Target) error {
	name := o.preset
	if !strings.Contains(name, "/") {
		name += "/inflight"
	}
	demand, err := signal.Lookup(name)
	if err != nil {
		return err
	}
	a.unit, a.title = demand.Unit, demand.Name+" of "+o.target
	if a.demand, err = demand.Render(o.namespace, *target, o.trust); err != nil {
		return err
	}
	if a.saturated != "" {
		return nil
	}
	server, _, _ := strings.Cut(name, "/")
	queue, err := signal.Lookup(server + "/queue")
	if err != nil {
		return fmt.Errorf("%s does not say when it is at its limit (%w): set --saturated", server, err)
	}
	a.saturated, err = queue.Render(o.namespace, *target, o.trust)
	return err
}

// apiTimeout is how long an API server may take to answer.
const apiTimeout = 15 * time.Second

// forecastFlags says whose signal and workload are asked for, where it is those of a Forecast in a cluster.
type forecastFlags struct {
	name                string // NAMESPACE/NAME, "" for none
	kubeconfig, context string
}

// validate returns every problem with these flags.
func (f *forecastFlags) validate(o *options) error {
	if f.name == "" {
		if f.kubeconfig != "" || f.context != "" {
			return errors.New("--kubeconfig and --context are for --forecast NAMESPACE/NAME, which is missing")
		}
		return nil
	}
	var problems []error
	if namespace, name, ok := strings.Cut(f.name, "/"); !ok || namespace == "" || name == "" ||
		strings.Contains(name, "/") {
		problems = append(problems, fmt.Errorf("--forecast %.200q is no Forecast, write NAMESPACE/NAME", f.name))
	}
	if o.preset != "" || o.history.Query != "" || o.target != "" || o.namespace != "" {
		problems = append(problems, errors.New("--forecast defines what --preset, --query, --target and --namespace "+
			"would, leave them out"))
	}
	if o.history.Trace != "" {
		problems = append(problems, errors.New("--forecast does not apply to --trace, leave it out"))
	}
	return errors.Join(problems...)
}

// fill puts the Forecast's words in the place of the flags that it excludes. It is read with the user's own rights, and so are
// its queries: nothing confines them to its namespace.
func (f *forecastFlags) fill(ctx context.Context, o *options) error {
	if f.name == "" {
		return nil
	}
	forecast, err := f.read(ctx)
	if err != nil {
		return fmt.Errorf("--forecast %s: %w", f.name, err)
	}
	spec := &forecast.Spec
	o.preset, o.history.Query = spec.Signal.Preset, spec.Signal.Query
	if o.saturated == "" {
		o.saturated = spec.Signal.Saturated
	}
	o.target, o.namespace = spec.TargetRef.Kind+"/"+spec.TargetRef.Name, forecast.Namespace
	return nil
}

func (f *forecastFlags) read(ctx context.Context) (*v1alpha1.Forecast, error) {
	cluster := cmdline.Cluster{Kubeconfig: f.kubeconfig, Context: f.context, Timeout: apiTimeout}
	config, _, err := cluster.Config(ctx, "capacity")
	if err != nil {
		return nil, err
	}
	namespace, name, _ := strings.Cut(f.name, "/")
	return client.ReadForecast(ctx, config, namespace, name)
}
