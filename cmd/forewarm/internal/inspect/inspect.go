// Package inspect shows what Forewarm observes, forecasts and serves (the command "inspect"): by a client of the inspection
// API, as a table, one outlook in full with a chart, or as JSON, with exit codes for scripts.
//
// It also shows earlier times, by package past.
package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/past"
)

const about = `Inspect shows what Forewarm observes, forecasts and serves: a table of all Forecasts, or one of them in full with a
chart of the recent demand, the served value and the forecast ahead.

It reads from --server (a standalone Forewarm or a kubectl proxy; inspect sends no credentials), or from the cluster of
your kubeconfig, as kubectl does. Without --namespace it shows all namespaces of --server. In a cluster it shows the
namespace of your kubeconfig.

Most flags are the same as kubectl's. For each change, -w prints a line, or the whole object. The DATA AGE column shows
the age of the newest sample; AGE is the age of the Forecast.

With --since it shows the past of one Forecast: what Forewarm served and how the workload was scaled, according to
Forewarm's own metrics in --prometheus. Next to this, it shows what the current spec would have served, replayed on the
history.

Exit codes:
  0  all Forecasts shown are serving, or -w was interrupted
  1  wrong usage, or the server cannot be reached or refuses the request
  2  the Forecast does not exist, or there are no Forecasts
  3  at least one Forecast is not serving: it is Stale, Pending or Invalid`

const examples = `  forewarm inspect --server http://127.0.0.1:8080
  forewarm inspect --server http://127.0.0.1:8080 demo/requests
  forewarm inspect -A -l inspect.forewarm.dev/state=Stale
  forewarm inspect -n inference llama-inflight --json | jq .status.path
  forewarm inspect inference/llama --since 6h --prometheus http://127.0.0.1:9090`

// options has the values of the flags.
type options struct {
	cmdline.Connection

	cmdline.Selection

	output cmdline.Output
	past   PastOptions
}

// New is the command "inspect".
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "inspect [NAMESPACE/NAME | NAME]",
		Short:   "Show the observed demand, the forecasts and the served values",
		Long:    about,
		Example: examples,
		Args:    cmdline.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate("Forecast", args); err != nil {
				return cmdline.UsageError(err)
			}
			return run(cmd.Context(), &o, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o.Selection.AddFlags(flags)
	o.output.AddFlags(flags, "print the objects", cmdline.Wide, cmdline.Name)
	o.Connection.AddFlags(flags)
	o.past.AddFlags(flags, "since", "show the past of one Forecast since this time")
	return cmd
}

// validate returns every problem of a command line. The argument names an object of a kind.
func (o *options) validate(kind string, args []string) error {
	problems := []error{o.Connection.Validate(), o.Selection.Validate(len(args) == 1), o.past.Validate()}
	if !o.past.From.IsZero() && len(args) == 0 {
		problems = append(problems, errors.New("--since needs the name of one Forecast"))
	}
	if len(args) == 1 {
		problems = append(problems, o.validateName(kind, args[0]))
	}
	return errors.Join(problems...)
}

func (o *options) validateName(kind, arg string) error {
	namespace, name, slash := strings.Cut(arg, "/")
	switch {
	case slash && (namespace == "" || name == "" || strings.Contains(name, "/")), arg == "":
		return fmt.Errorf("%.200q is not a %s's name: write NAMESPACE/NAME or NAME", arg, kind)
	case slash && o.Namespace != "" && namespace != o.Namespace:
		return fmt.Errorf("%.200q contradicts --namespace: leave one out", arg)
	case o.All:
		return errors.New("--all-namespaces is for the table: leave out the name or the flag")
	case !slash && o.Namespace == "" && o.Server != "":
		return fmt.Errorf("%.200q needs its namespace with --server: write NAMESPACE/%[1]s", arg)
	}
	return nil
}

func run(ctx context.Context, o *options, args []string, out, messages io.Writer) error {
	if !o.past.From.IsZero() {
		return showPast(ctx, o, args[0], out)
	}
	reader, err := o.Connect(ctx, "inspect")
	if err != nil {
		return err
	}
	s := source{client: reader, namespace: o.Namespace, selector: o.Labels}
	switch {
	case len(args) == 1:
		s.namespace, s.name = split(args[0], cmp.Or(o.Namespace, reader.Namespace))
	case s.namespace == "" && !o.All && o.Server == "":
		s.namespace = reader.Namespace
	}
	p := printer{output: &o.output, out: out}
	if o.Watch {
		w := watch{printer: p, source: s, messages: messages}
		return notFoundCode(w.run(ctx))
	}
	list, now, err := s.read(ctx)
	if err != nil {
		return notFoundCode(err)
	}
	if err = p.show(list, now, s.name != ""); err == nil && len(list.Items) == 0 {
		return cmdline.WithExitCode(cmdline.NotFound, fmt.Errorf("no Forecasts %s", s.where()))
	}
	return errors.Join(err, checkServing(list.Items...))
}

// showPast prints the past of one Forecast.
func showPast(ctx context.Context, o *options, arg string, out io.Writer) error {
	config, own, err := o.Config(ctx, "inspect")
	if err != nil {
		return err
	}
	namespace, name := split(arg, cmp.Or(o.Namespace, own))
	all, err := past.Read(
		ctx,
		o.past.Config,
		config,
		[]snapshot.Key{{Namespace: namespace, Name: name}},
		time.Now(),
	)
	if err != nil {
		return err
	}
	return WritePast(out, &o.output, all)
}

// split returns the namespace and the name in an argument. The argument may leave out the namespace.
func split(arg, usual string) (namespace, name string) {
	namespace, name, slash := strings.Cut(arg, "/")
	if !slash {
		return usual, arg
	}
	return namespace, name
}

// source says what is shown: one outlook of a namespace, or all outlooks that match a selector. An empty namespace means all namespaces.
type source struct {
	client                    *client.Client
	namespace, name, selector string
}

func (s source) read(ctx context.Context) (*inspect.OutlookList, time.Time, error) {
	if s.name == "" {
		return s.client.Outlooks(ctx, s.namespace, s.selector)
	}
	one, now, err := s.client.Outlook(ctx, s.namespace, s.name)
	return &inspect.OutlookList{Items: []inspect.Outlook{*one}}, now, err
}

// printer prints outlooks in the format of -o.
type printer struct {
	output *cmdline.Output
	out    io.Writer
}

// show prints a table, or one outlook in full, or the output for scripts.
func (p printer) show(list *inspect.OutlookList, now time.Time, one bool) error {
	switch {
	case p.output.ForScripts() && one:
		return p.output.Write(p.out, &list.Items[0])
	case p.output.ForScripts():
		return p.output.Write(p.out, list)
	case p.output.Is(cmdline.Name):
		for i := range list.Items {
			fmt.Fprintf(p.out, "outlook.%s/%s\n", inspect.GroupName, list.Items[i].Name) // kubectl accepts this form.
		}
		return nil
	case one && !p.output.Is(cmdline.Wide):
		return newView(p.out).full(&list.Items[0], now)
	}
	return newView(p.out).summary(list.Items, now, p.output.Is(cmdline.Wide))
}

// where says where outlooks are searched for.
func (s source) where() string {
	where := "in any namespace"
	if s.namespace != "" {
		where = "in namespace " + s.namespace
	}
	if s.selector != "" {
		where += " match " + strconv.Quote(s.selector)
	}
	return where
}

func notFoundCode(err error) error {
	if errors.Is(err, client.ErrNotFound) {
		return cmdline.WithExitCode(cmdline.NotFound, err)
	}
	return err
}

// checkServing returns an error with an exit code if some of the Forecasts are not serving. The error lists them.
func checkServing(shown ...inspect.Outlook) error {
	const most = 5
	var not []string
	for i := range shown {
		if o := &shown[i]; !snapshot.State(o.Status.State).Serves() {
			not = append(not, fmt.Sprintf("%s/%s (%s)", o.Namespace, o.Name, o.Status.State))
		}
	}
	if len(not) == 0 {
		return nil
	}
	names := strings.Join(not[:min(most, len(not))], ", ")
	if len(not) > most {
		names += fmt.Sprintf(" and %d more", len(not)-most)
	}
	return cmdline.WithExitCode(cmdline.Findings,
		fmt.Errorf("%d of %d Forecasts are not serving: %s", len(not), len(shown), names))
}
