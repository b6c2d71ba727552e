package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
	words "github.com/forewarm/forewarm/pkg/serve/inspect"
)

const aboutFleet = `Fleet shows how the GPUs of a GPUFleet are used: what its members hold, how many replicas each consumer of spare GPUs
may run now and why, and the day ahead. Without a name it lists the fleets.

It reads from --server (a kubectl proxy; fleet sends no credentials), or from the cluster of your kubeconfig, as kubectl
does. Forewarm plans fleets if the chart value fleets.enabled is true.

An hour in which the members need more GPUs than there are is marked with !.

Exit codes:
  0  all fleets shown have a plan
  1  wrong usage, or the server cannot be reached or refuses the request
  2  the fleet does not exist, or there are no fleets
  3  at least one fleet has no plan: batch work gets no metric`

const fleetExamples = `  forewarm fleet -n inference h100
  forewarm fleet inference/h100 --json | jq .status.batch
  forewarm fleet -A`

// NewFleet is the command "fleet".
func NewFleet() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "fleet [NAMESPACE/NAME | NAME]",
		Short:   "Show the GPUs of a fleet, what batch work may use, and the day ahead",
		Long:    aboutFleet,
		Example: fleetExamples,
		Args:    cmdline.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate("GPUFleet", args); err != nil {
				return cmdline.UsageError(err)
			}
			list, err := o.readFleets(cmd.Context(), args)
			if err != nil {
				return notFoundCode(err)
			}
			return errors.Join(o.showFleets(newView(cmd.OutOrStdout()), list, len(args) == 1), checkPlans(list.Items))
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.Namespace, "namespace", "n", "", "namespace to show")
	flags.BoolVarP(&o.All, "all-namespaces", "A", false, "show all namespaces")
	o.output.AddFlags(flags, "print the objects")
	o.Connection.AddFlags(flags)
	return cmd
}

// readFleets reads the fleets that the command line names.
func (o *options) readFleets(ctx context.Context, args []string) (*inspect.FleetOutlookList, error) {
	reader, err := o.Connect(ctx, "fleet")
	if err != nil {
		return nil, err
	}
	own := cmp.Or(o.Namespace, reader.Namespace)
	if len(args) == 1 {
		namespace, name := split(args[0], own)
		one, unread := reader.Fleet(ctx, namespace, name)
		return &inspect.FleetOutlookList{Items: []inspect.FleetOutlook{*one}}, unread
	}
	s := source{namespace: own}
	if o.All || o.Namespace == "" && o.Server != "" {
		s.namespace = ""
	}
	list, err := reader.Fleets(ctx, s.namespace)
	if err == nil && len(list.Items) == 0 {
		err = cmdline.WithExitCode(cmdline.NotFound, fmt.Errorf("no GPUFleets %s", s.where()))
	}
	return list, err
}

// showFleets prints a table, or one fleet in full, or the output for scripts.
func (o *options) showFleets(v *view, list *inspect.FleetOutlookList, one bool) error {
	switch {
	case o.output.ForScripts() && one:
		return o.output.Write(v.out, &list.Items[0])
	case o.output.ForScripts():
		return o.output.Write(v.out, list)
	case one:
		return v.fleet(&list.Items[0])
	}
	const heads = "NAMESPACE\tNAME\tGPUS\tMEMBERS\tOTHER\tBATCH\tMESSAGE"
	return table(v, heads, list.Items, func(f *inspect.FleetOutlook) []string {
		s := &f.Status
		return []string{
			f.Namespace, f.Name, number(s.GPUs), number(s.Members), number(s.Other), words.FleetBatches(s),
			cmp.Or(words.FleetMessage(s), unknown),
		}
	})
}

// fleet writes one fleet with all of its fields.
func (v *view) fleet(f *inspect.FleetOutlook) error {
	s := &f.Status
	if s.Time == nil {
		_, err := fmt.Fprintf(v.out, "%s/%s: %s\n", f.Namespace, f.Name, s.Problem)
		return err
	}
	fmt.Fprintf(v.out, "%s/%s has %s GPUs: the members hold or ask for %s, other pods hold %s\n", f.Namespace, f.Name,
		number(s.GPUs), number(s.Members), number(s.Other))
	for _, text := range []string{s.Problem, s.Shortage} {
		if text != "" {
			fmt.Fprintln(v.out, text)
		}
	}
	err := table(v, "\nCONSUMER\tMAY RUN\tRUNNING\tGPUS\tRUN", s.Batch, func(b *inspect.FleetBatch) []string {
		return []string{
			b.Name, strconv.Itoa(int(b.Replicas)), strconv.Itoa(int(b.Running)), humanize.Number(b.GPUs),
			humanize.Span(b.Run.Duration),
		}
	})
	if err != nil {
		return err
	}
	for i := range s.Batch {
		b := &s.Batch[i]
		fmt.Fprint(v.out, "\n", printable.Wrap(b.Name+": ", b.Message, "  ", min(v.width, maxColumns)))
	}
	if s.Day == nil {
		return nil
	}
	rows := fleetHours(s.Day)
	return table(v, "\nHOUR (UTC)\tTOTAL\tGPUS\tLARGEST MEMBERS", rows, func(row *[]string) []string { return *row })
}

// fleetHours are the lines of a day ahead.
func fleetHours(d *inspect.FleetDay) [][]string {
	const named = 3
	tenths := func(gpus float64) string { return humanize.Number(math.Round(10*gpus) / 10) }
	var rows [][]string
	for i, at := range d.Hours {
		members := slices.Clone(d.Members)
		slices.SortStableFunc(members, func(a, b inspect.FleetMember) int { return cmp.Compare(b.GPUs[i], a.GPUs[i]) })
		var largest []string
		for n := range min(named, len(members)) {
			largest = append(largest, members[n].Name+" "+tenths(members[n].GPUs[i]))
		}
		total := tenths(d.Total[i])
		if d.Total[i] > d.GPUs {
			total += "!"
		}
		rows = append(rows, []string{
			at.UTC().Format("Mon 15:04"), total, tenths(d.GPUs), strings.Join(largest, ", "),
		})
	}
	return rows
}

// checkPlans returns an error with an exit code if some of the fleets have no plan.
func checkPlans(shown []inspect.FleetOutlook) error {
	var not []string
	for i := range shown {
		if shown[i].Status.Problem != "" {
			not = append(not, shown[i].Namespace+"/"+shown[i].Name)
		}
	}
	if len(not) == 0 {
		return nil
	}
	return cmdline.WithExitCode(cmdline.Findings,
		fmt.Errorf("%d of %d GPUFleets have no plan: %s", len(not), len(shown), humanize.List(not)))
}
