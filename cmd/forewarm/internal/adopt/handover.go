package adopt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/doctor"
)

const aboutHandover = `Handover --check lists what must be done before Forewarm can take over external.metrics.k8s.io and custom.metrics.k8s.io
from prometheus-adapter, or from another server. It checks which server each APIService points to. It also checks, for
each metric of an HPA, whether a Forecast currently serves a value under the metric's name. Then it prints the commands
for the handover, and the commands that undo it. docs/migrate.md describes the whole migration.

It changes nothing. It reads with your own permissions.

Exit codes:
  0  nothing blocks the handover
  1  wrong usage, or the cluster cannot be reached
  3  something blocks the handover
  4  nothing blocks the handover, but something could not be checked`

// handoverOptions has the values of the flags.
type handoverOptions struct {
	cmdline.Cluster

	namespace string
	check     bool
	output    cmdline.Output
}

// NewHandover is the command "handover".
func NewHandover() *cobra.Command {
	var o handoverOptions
	cmd := &cobra.Command{
		Use:     "handover --check",
		Short:   "List what must be done before Forewarm can replace another metrics adapter",
		Long:    aboutHandover,
		Example: "  forewarm handover --check\n  forewarm handover --check --json | jq -r '.steps[].back'",
		Args:    cmdline.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return handover(cmd.Context(), &o, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.check, "check", false, "check what must be done before the handover")
	flags.StringVarP(&o.namespace, "namespace", "n", "forewarm-system", "namespace in which Forewarm is installed")
	o.output.AddFlags(flags, "print the findings")
	o.AddFlags(flags)
	return cmd
}

// validate returns every problem of a command line.
func (o *handoverOptions) validate() error {
	problems := []error{o.Validate()}
	if o.namespace == "" {
		problems = append(problems, errors.New("--namespace is empty, write for example forewarm-system"))
	}
	if !o.check {
		problems = append(problems,
			errors.New("write --check: it prints the commands for the handover, which you run yourself"))
	}
	return errors.Join(problems...)
}

func handover(ctx context.Context, o *handoverOptions, out io.Writer) error {
	config, namespace, err := o.Config(ctx, "doctor")
	if err != nil {
		return err
	}
	d, err := doctor.New(
		doctor.Config{Cluster: config, Namespace: o.namespace, Elsewhere: namespace, Now: time.Now},
	)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	h, err := d.CheckHandover(ctx)
	if err != nil {
		return err
	}
	if o.output.ForScripts() {
		err = o.output.Write(out, h)
	} else {
		err = writeHandover(out, &h)
	}
	return errors.Join(err, cmdline.ChecksError(h.Count(doctor.Error), h.Count(doctor.Unknown)))
}

// writeHandover writes a table, what to do about blocking problems, and the steps, each with how to undo it.
func writeHandover(out io.Writer, h *doctor.Handover) error {
	var lines [][]string
	var remedies []string
	for _, f := range h.Findings {
		lines = append(lines, []string{string(f.Level), f.Object, f.Message})
		if f.Remedy != "" && !slices.Contains(remedies, f.Remedy) {
			remedies = append(remedies, f.Remedy)
		}
	}
	err := cmdline.Table(out, "STATE\tOBJECT\tFINDING", lines)
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(out, "\n%s\n  %s\n", title, strings.Join(lines, "\n  "))
		}
	}
	var do, back []string
	for _, s := range h.Steps {
		do, back = append(do, s.Do), slices.Insert(back, 0, s.Back)
	}
	list("To do:", remedies)
	list("To hand over, once nothing blocks:", do)
	list("To undo the handover (keep these commands):", back)
	return err
}
