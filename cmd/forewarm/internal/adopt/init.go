// Package adopt has the commands init, convert and handover, by which a cluster adopts Forewarm.
package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/adopt"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/signal"
)

// The command "init" writes Forecasts to commit, for existing workloads. It uses their autoscalers and the series that their servers
// report.

const initAbout = `Init writes Forecasts in shadow mode for you to review and commit: one for each workload that an HPA or a ScaledObject
scales, or that requests GPUs. Comments explain each choice, and say what scales the workload up while Forewarm is down.

It reads a cluster with your own permissions, or manifests (--file). From the series in Prometheus, it detects which
model server a workload runs, and chooses that server's preset. If Prometheus has series of several servers for the
workload, or of none, init writes no Forecast and says what to check. It copies the autoscaler's target if the target is
in the preset's unit.

With --simulate, init assumes that a replica sustains the autoscaler's target and no more, as "forewarm simulate" does.

The YAML goes to stdout, or with --out to one file per Forecast. A summary goes to stderr. Without --apply, init changes
nothing in the cluster. It never changes an existing Forecast.`

const initExamples = `  forewarm init --prometheus http://127.0.0.1:9090 -n inference > forecasts.yaml
  forewarm init --prometheus http://127.0.0.1:9090 -A --simulate --out forecasts
  forewarm init --prometheus http://127.0.0.1:9090 --file manifests --json | jq '.workloads[] | select(.leftOut)'`

// initOptions has the values of the flags.
type initOptions struct {
	objectSource

	out                    string
	history                history.Options
	trust                  signal.Trust
	lead                   time.Duration
	simulate, apply, quiet bool
	output                 cmdline.Output
}

// NewInit is the command "init".
func NewInit() *cobra.Command {
	o := &initOptions{history: history.Defaults(), trust: signal.DefaultTrust()}
	cmd := &cobra.Command{
		Use:     "init --prometheus URL",
		Short:   "Write Forecasts for your existing workloads, to review and commit",
		Long:    initAbout,
		Example: initExamples,
		Args:    cmdline.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return cmdline.IfInterrupted(cmd.Context(), runInit(cmd.Context(), o, cmd))
		},
	}
	flags := cmd.Flags()
	o.AddFlags(flags)
	flags.DurationVar(&o.lead, "lead-time", 5*time.Minute,
		"time that a new replica takes to become ready; used until Forewarm has measured it")
	flags.BoolVar(
		&o.simulate,
		"simulate",
		false,
		"simulate the workloads on their history, sort them by the GPU-hours saved, and leave out workloads for which Forewarm would cost more",
	)
	flags.StringVar(&o.out, "out", "", "folder to write one file per Forecast to (default: standard output)")
	flags.BoolVar(&o.apply, "apply", false, "create the Forecasts in the cluster")
	o.output.AddFlags(flags, "print the summary with the Forecasts")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not show progress")
	cmdline.AddTrustFlags(flags, &o.trust)
	store := pflag.NewFlagSet("store", pflag.ContinueOnError)
	o.history.AddFlags(store)
	store.VisitAll(func(flag *pflag.Flag) {
		own := []string{"trace", "column", "query", "time-zone", "resample"} // Each workload has its own query.
		if !slices.Contains(own, flag.Name) {
			flags.AddFlag(flag)
		}
	})
	return cmd
}

// validate returns every problem of a command line.
func (o *initOptions) validate() error {
	o.history.QueryLater = true // Each workload has its own query.
	problems := []error{o.trust.Validate(), o.objectSource.Validate()}
	if o.history.Prometheus.URL == "" {
		problems = append(problems, errors.New("set --prometheus URL: its series show which server a workload runs"))
	} else {
		problems = append(problems, o.history.Validate())
	}
	if o.File != "" && o.apply {
		problems = append(problems, errors.New("--apply needs a cluster, leave out --file"))
	}
	if o.lead < time.Second {
		problems = append(problems, fmt.Errorf("--lead-time %s is too short, write for example 5m", o.lead))
	}
	return errors.Join(problems...)
}

// runInit reads the workloads, and proposes and writes their Forecasts.
func runInit(ctx context.Context, o *initOptions, cmd *cobra.Command) error {
	found, err := read(ctx, &o.objectSource, cmd.InOrStdin(), adopt.WorkloadKinds())
	if err != nil {
		return err
	}
	cfg := adopt.Config{
		Trust: o.trust, Lead: o.lead,
		Simulate: o.simulate, Window: time.Duration(o.history.Range), Step: time.Duration(o.history.Step),
		History: func(ctx context.Context, query string, window, step time.Duration) (forecast.Series, error) {
			of := o.history
			of.Query, of.Range, of.Step = query, model.Duration(window), model.Duration(step)
			h, err := history.Read(ctx, &of, nil, time.Now(), nil)
			if err == nil && h.Doubt != "" {
				err = errors.New(h.Doubt)
			}
			return h.Series, err
		},
	}
	workloads, bar := adopt.Workloads(found), cmdline.NewProgressBar(cmd.ErrOrStderr(), o.quiet, time.Now)
	bar.Begin("looking at workloads", len(workloads))
	for _, w := range workloads {
		bar.SetTask(w.ID())
		if err := adopt.Propose(ctx, cfg, w); err != nil {
			return err
		}
		bar.Add(1)
	}
	bar.End()
	var failed error
	if o.apply {
		failed = adopt.Create(ctx, found, workloads)
	}
	return errors.Join(failed, o.write(cmd.OutOrStdout(), workloads, found.Unread),
		summarize(cmd.ErrOrStderr(), workloads, found.Unread))
}

// write writes the Forecasts sorted by namespace and name, or the output for scripts.
func (o *initOptions) write(out io.Writer, workloads []*adopt.Workload, unread []string) (err error) {
	if o.out != "" || !o.output.ForScripts() {
		var all []adopt.Document
		for _, w := range workloads {
			if w.Manifest != "" {
				all = append(all, w.Document)
			}
		}
		err = writeObjects(out, o.out, all)
	}
	if o.output.ForScripts() {
		err = errors.Join(err, o.output.Write(out, map[string]any{"workloads": bySaved(workloads), "unread": unread}))
	}
	return err
}

// bySaved sorts the workloads by how much would be saved, with the most first. Workloads that were not simulated count as 0.
func bySaved(all []*adopt.Workload) []*adopt.Workload {
	return slices.SortedStableFunc(slices.Values(all), func(a, b *adopt.Workload) int {
		return cmp.Compare(b.Saved, a.Saved)
	})
}

// summarize writes a line for each workload, and then what was left out and why.
func summarize(out io.Writer, workloads []*adopt.Workload, unread []string) error {
	var lines [][]string
	var notes []string
	for _, w := range bySaved(workloads) {
		saves, name := humanize.Unknown, w.Name
		if w.Saved != 0 {
			saves = humanize.Amount(w.Saved) + " GPU-hours"
		}
		switch {
		case w.Manifest == "":
			name = "left out"
			notes = append(notes, w.ID()+" is left out: "+w.LeftOut)
		case !w.HasScaling():
			notes = append(notes, w.ID()+" has no scaling: "+w.Scaling)
		}
		if w.Verdict != "" && w.LeftOut == "" {
			notes = append(notes, w.ID()+": "+w.Verdict)
		}
		if w.Created {
			name += ", created"
		}
		by := cmp.Or(printable.Clip(strings.Join(w.ScaledBy, ", "), cmdline.Page), humanize.Unknown)
		preset := cmp.Or(w.Preset, humanize.Unknown)
		lines = append(lines, []string{printable.Clip(w.ID(), cmdline.Page), preset, by, saves, name})
	}
	if len(workloads) == 0 {
		notes = append(notes,
			"No workload here has an autoscaler or a GPU: choose another namespace (-n), or all namespaces (-A)")
	}
	err := cmdline.Table(out, "WORKLOAD\tPRESET\tSCALED BY\tSAVES\tFORECAST", lines)
	for _, note := range append(notes, unread...) {
		fmt.Fprint(out, cmdline.Note(note))
	}
	return err
}
