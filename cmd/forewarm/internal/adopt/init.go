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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/signal"
)

// The command "init": Forecasts to commit, for workloads that are there, by their autoscalers and the series that their
// servers report.

const initAbout = `Init writes Forecasts in shadow mode, to read and commit: one for each workload that an HPA or a ScaledObject
scales or that has GPUs. Comments in them give the reasons, and what scales the workload up while Forewarm is down.

It reads a cluster with your own rights, or manifests (--file). The preset is that of the one server whose series of the
workload's pods the Prometheus has. With series of several servers, or of none, there is no Forecast, and the output says
what to look at. The targets are those of the autoscaler where they are in the preset's unit.

--simulate takes the autoscaler's target for what a replica sustains, as "forewarm simulate" does.

The YAML goes to stdout, or with --out into a file for each Forecast; a summary goes to stderr. Without --apply nothing is
changed in the cluster. A Forecast that is there is never changed.`

const initExamples = `  forewarm init --prometheus http://127.0.0.1:9090 -n inference > forecasts.yaml
  forewarm init --prometheus http://127.0.0.1:9090 -A --simulate --out forecasts
  forewarm init --prometheus http://127.0.0.1:9090 --file manifests --json | jq '.workloads[] | select(.leftOut)'`

// initOptions are the flags.
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
		Short:   "Write Forecasts for the workloads that are there, to read and commit",
		Long:    initAbout,
		Example: initExamples,
		Args:    cmdline.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return cmdline.IfInterrupted(cmd.Context(), o.run(cmd.Context(), cmd))
		},
	}
	flags := cmd.Flags()
	o.AddFlags(flags)
	flags.DurationVar(&o.lead, "lead-time", 5*time.Minute,
		"time from \"more replicas\" to \"ready\", until it is measured")
	flags.BoolVar(
		&o.simulate,
		"simulate",
		false,
		"simulate the workloads on their history, sort them by the GPU-hours saved, and leave out those that would lose",
	)
	flags.StringVar(&o.out, "out", "", "folder to write a file for each Forecast to (default: the standard output)")
	flags.BoolVar(&o.apply, "apply", false, "create the Forecasts in the cluster")
	o.output.AddFlags(flags, "print the summary with the Forecasts")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not show progress")
	cmdline.AddTrustFlags(flags, &o.trust)
	store := pflag.NewFlagSet("store", pflag.ContinueOnError)
	o.history.AddFlags(store)
	store.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"trace", "column", "query", "time-zone", "resample"},
			flag.Name) { // Each workload has its own query.
			flags.AddFlag(flag)
		}
	})
	return cmd
}

// validate returns every problem of a command line.
func (o *initOptions) validate() error {
	o.history.Query = "up"
	problems := []error{o.trust.Validate(), o.objectSource.Validate()}
	if o.history.Prometheus.URL == "" {
		problems = append(problems, errors.New("set --prometheus URL: its series tell which server a workload runs"))
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

// run reads, proposes and writes.
func (o *initOptions) run(ctx context.Context, cmd *cobra.Command) error {
	found, err := o.Read(ctx, cmd.InOrStdin(), kinds())
	if err != nil {
		return err
	}
	rows, bar := workloads(found), cmdline.NewProgressBar(cmd.ErrOrStderr(), o.quiet, time.Now)
	bar.Begin("looking at workloads", len(rows))
	for _, r := range rows {
		bar.SetTask(r.id())
		if err := o.propose(ctx, r); err != nil {
			return err
		}
		bar.Add(1)
	}
	bar.End()
	var failed error
	if o.apply {
		failed = create(ctx, found, rows)
	}
	return errors.Join(failed, o.write(cmd.OutOrStdout(), rows, found.Unread),
		summarize(cmd.ErrOrStderr(), rows, found.Unread))
}

// write writes the Forecasts sorted by namespace and name, and what scripts read.
func (o *initOptions) write(out io.Writer, rows []*row, unread []string) (err error) {
	var all []objectDocument
	for _, r := range rows {
		if r.Manifest != "" {
			all = append(all, r.objectDocument)
		}
	}
	if o.out != "" || !o.output.ForScripts() {
		err = writeObjects(out, o.out, all)
	}
	if o.output.ForScripts() {
		err = errors.Join(err, o.output.Write(out, map[string]any{"workloads": bySaved(rows), "unread": unread}))
	}
	return err
}

// bySaved puts those first by which most would be saved, as far as that was simulated.
func bySaved(rows []*row) []*row {
	return slices.SortedStableFunc(slices.Values(rows), func(a, b *row) int { return cmp.Compare(b.Saved, a.Saved) })
}

// summarize writes a line for each workload, and below what was left out, and why.
func summarize(out io.Writer, rows []*row, unread []string) error {
	var lines [][]string
	var notes []string
	for _, r := range bySaved(rows) {
		saves, forecast := humanize.Unknown, r.Name
		if r.Saved != 0 {
			saves = humanize.Amount(r.Saved) + " GPU-hours"
		}
		switch {
		case r.Manifest == "":
			forecast = "left out"
			notes = append(notes, r.id()+" is left out: "+r.LeftOut)
		case r.metric == nil:
			notes = append(notes, r.id()+" has no scaling: "+r.Scaling)
		}
		if r.Verdict != "" && r.LeftOut == "" {
			notes = append(notes, r.id()+": "+r.Verdict)
		}
		if r.Created {
			forecast += ", created"
		}
		by := cmp.Or(printable.Clip(strings.Join(r.ScaledBy, ", "), cmdline.Page), humanize.Unknown)
		preset := cmp.Or(r.Preset, humanize.Unknown)
		lines = append(lines, []string{printable.Clip(r.id(), cmdline.Page), preset, by, saves, forecast})
	}
	if len(rows) == 0 {
		notes = append(notes,
			"No workload has an autoscaler or a GPU here: name another namespace (-n), or all of them (-A)")
	}
	err := cmdline.Table(out, "WORKLOAD\tPRESET\tSCALED BY\tSAVES\tFORECAST", lines)
	for _, note := range append(notes, unread...) {
		fmt.Fprint(out, cmdline.Note(note))
	}
	return err
}
