package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/signal"
)

// autoscalerFile is an autoscaler in a file, and the selection of the metric that is simulated.
type autoscalerFile struct {
	file, name, metric string

	// found and simulated are the autoscaler and its metric; nil before they are read.
	found     *autoscaler.Manifest
	simulated *hpa.AutoscalerMetric
}

// read adds the autoscaler to a comparison.
func (a *autoscalerFile) read(ctx context.Context, c *compare.Config) error {
	if a.file == "" {
		return nil
	}
	text, err := cmdline.ReadFile(ctx, a.file, manifest.MaxFile)
	if err != nil {
		return fmt.Errorf("the autoscaler: %w", err)
	}
	all, err := autoscaler.Read(a.file, text)
	if err != nil {
		return err
	}
	one, err := autoscaler.FindManifest(all, a.name)
	if err != nil {
		return withFlagHint(err, len(all) > 1 || a.name != "", "--hpa-name")
	}
	metric, err := one.SelectMetric(a.metric, c.Capacity)
	if err != nil {
		return withFlagHint(err, len(one.Metrics) > 1 || a.metric != "", "--metric")
	}
	a.found, a.simulated = one, metric
	c.HPA = one.SpecOf(metric)
	c.Autoscaler = one.Ref() + ", " + metric.String() + ", in " + a.file
	c.Remarks = append(c.Remarks, notSimulated(&one.Autoscaler)...)
	const byTotal = "%s is a mean over the pods. The simulation uses its total instead: the HPA asks for the same " +
		"number of replicas as long as all pods are ready and report the metric."
	const byDemand = "The simulation derives %s from the demand: it assumes that the usage is proportional to the " +
		"demand, and 100%% when a replica gets exactly as much demand as it sustains."
	switch {
	case metric.PerPod:
		c.Remarks = append(c.Remarks, fmt.Sprintf(byTotal, metric))
	case metric.Utilization > 0:
		c.Remarks = append(c.Remarks, fmt.Sprintf(byDemand, metric))
	}
	if n := len(one.Metrics); n > 1 {
		c.Remarks = append(c.Remarks,
			fmt.Sprintf("%s scales on %d metrics; only %s is simulated. The others can only add "+
				"replicas.", one.Ref(), n, cmp.Or(metric.Trigger, metric.Name)))
	}
	return nil
}

// notSimulated lists the parts of an autoscaler that the simulation leaves out.
func notSimulated(a *hpa.Autoscaler) (remarks []string) {
	if a.Kind == hpa.KindScaledObject && (a.Min == 0 || a.Idle < a.Min) {
		remarks = append(remarks, a.Ref()+" may scale to zero, or to idle replicas. That is not simulated: at least "+
			humanize.Plural(int(max(a.Min, 1)), "replica")+" run at all times, with every policy.")
	}
	if a.Paused != "" {
		remarks = append(remarks,
			a.Ref()+" is paused by the annotation "+a.Paused+". It is simulated as if it were not.")
	}
	return remarks
}

// setQuery sets the query of the demand, if the flags specify a preset or use the autoscaler's prometheus trigger.
func (o *options) setQuery(a *autoscalerFile) error {
	h, w := &o.history, &o.workload
	if h.Trace != "" || h.Query != "" {
		return nil
	}
	if w.Preset == "" {
		h.Query = a.simulated.Metadata["query"]
		if h.Query == "" {
			return fmt.Errorf("--prometheus needs a query, and %s of %s has none: add for example --query "+
				"'sum(rate(requests_total[1m]))', or --preset vllm", a.simulated, a.file)
		}
		return nil
	}
	target, err := o.target(a)
	if err != nil {
		return err
	}
	preset, promQL, err := w.Demand(target)
	h.Query, h.QueryName = promQL, fmt.Sprintf("%s of %s/%s in %s", preset.Name, target.Kind, target.Name, w.Namespace)
	return err
}

// target returns the workload of the preset, and sets its namespace. Both come from the flags, or else from the autoscaler.
func (o *options) target(a *autoscalerFile) (signal.Target, error) {
	w := &o.workload
	if a.found != nil {
		w.Namespace = cmp.Or(w.Namespace, a.found.Namespace)
		if w.Target == "" {
			return signal.Target{Kind: a.found.Workload.Kind, Name: a.found.Workload.Name}, nil
		}
	}
	if w.Target == "" || w.Namespace == "" {
		return signal.Target{}, errors.New("--preset needs the workload: set --target, for example deployment/llama, " +
			"and --namespace, or --hpa")
	}
	return cmdline.ParseTarget(w.Target)
}

// withPresetHint says where to look if a preset finds no series.
func (o *options) withPresetHint(err error) error {
	if !errors.Is(err, series.ErrNoSeries) || o.workload.Preset == "" {
		return err
	}
	return fmt.Errorf("%s: %w; check --namespace, and that Prometheus scraped the server and kube-state-metrics then",
		o.history.QueryName, err)
}

// withFlagHint adds the flag that makes a choice.
func withFlagHint(err error, choice bool, flag string) error {
	if !choice {
		return err
	}
	return fmt.Errorf("%w (choose with %s NAME)", err, flag)
}

// readEvents reads the events that are known in advance.
func readEvents(ctx context.Context, file string, c *compare.Config) error {
	if file == "" {
		return nil
	}
	text, err := cmdline.ReadFile(ctx, file, manifest.MaxFile)
	if err != nil {
		return fmt.Errorf("the events: %w", err)
	}
	specs, err := manifest.ReadEvents(file, text)
	c.Events = calendar.Of(specs)
	return err
}

// eventRemarks says how many occurrences of events the history has.
func eventRemarks(file string, c *compare.Config) []string {
	if c.Events == nil {
		return nil
	}
	from, to := c.Demand.Start, c.Demand.End()
	n := len(c.Events(from, to))
	if n == 0 {
		const text = "No event in %s falls within the history (%s to %s), so the events change nothing."
		return []string{fmt.Sprintf(text, file, from.Format(time.DateOnly), to.Format(time.DateOnly))}
	}
	return []string{fmt.Sprintf("Forewarm knows %s from %s in advance.", humanize.Plural(n, "occurrence"), file)}
}

// readMeasuredLead replaces the lead time by that of the Forecast NAMESPACE/NAME. Forewarm uses a high quantile of the measured lead times,
// so the simulation assumes that every replica takes that long.
func readMeasuredLead(ctx context.Context, from *client.Client, of string, lead *compare.LeadTime) error {
	namespace, name, _ := strings.Cut(of, "/")
	outlook, _, err := from.Outlook(ctx, namespace, name)
	if err != nil {
		return fmt.Errorf("--lead-time-of %s: %w", of, err)
	}
	known := outlook.Status.LeadTime
	if known.Duration.Duration <= 0 {
		return fmt.Errorf("--lead-time-of %s: its lead time is not known yet, set --lead-time instead", of)
	}
	*lead = compare.LeadTime{Median: known.Duration.Duration, Known: "of Forecast " + of}
	if known.Source != "" {
		lead.Known += ": " + known.Source
	}
	return nil
}
