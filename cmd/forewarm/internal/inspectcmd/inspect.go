package inspectcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/inspectclient"
	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// The exit codes beside 0 and exit.Failure.
const (
	codeNotFound   = 2
	codeNotServing = 3
)

const about = `Inspect shows what Forewarm observes, forecasts and serves: a table of all Forecasts, or one of them in full with a
chart of the recent demand, the served value and the forecast ahead.

It reads from --server (a standalone Forewarm or a kubectl proxy; no credentials are sent), or from the cluster of the
kubeconfig, as kubectl does. Without --namespace it shows all namespaces of --server, or the kubeconfig's namespace of a
cluster.

Exit codes:
  0  all Forecasts shown are serving
  1  wrong usage, or the server cannot be reached or refuses
  2  there is no such Forecast, or no Forecast at all
  3  at least one Forecast is not serving: it is Stale, Pending or Invalid`

const examples = `  forewarm inspect --server http://127.0.0.1:8080
  forewarm inspect --server http://127.0.0.1:8080 demo/requests
  forewarm inspect -A
  forewarm inspect -n inference llama-inflight --json | jq .status.path`

// options are the flags.
type options struct {
	inspectclient.Connection

	namespace string
	all       bool
	json      bool
}

// New is the command "inspect".
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "inspect [NAMESPACE/NAME | NAME]",
		Short:   "Show what is observed, forecast and served",
		Long:    about,
		Example: examples,
		Args:    exit.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(args); err != nil {
				return exit.Usage(err)
			}
			return o.run(cmd.Context(), args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace to show")
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "show all namespaces")
	flags.BoolVar(&o.json, "json", false, "print the objects as JSON")
	o.AddFlags(flags)
	return cmd
}

// validate returns every problem of a command line.
func (o *options) validate(args []string) error {
	problems := []error{o.Connection.Validate()}
	if o.all && o.namespace != "" {
		problems = append(problems, errors.New("--all-namespaces contradicts --namespace: keep one"))
	}
	if len(args) == 1 {
		problems = append(problems, o.validateName(args[0]))
	}
	return errors.Join(problems...)
}

func (o *options) validateName(arg string) error {
	namespace, name, slash := strings.Cut(arg, "/")
	switch {
	case slash && (namespace == "" || name == "" || strings.Contains(name, "/")), arg == "":
		return fmt.Errorf("%.200q is not a Forecast's name: write NAMESPACE/NAME or NAME", arg)
	case slash && o.namespace != "" && namespace != o.namespace:
		return fmt.Errorf("%.200q contradicts --namespace: leave one out", arg)
	case o.all:
		return errors.New("--all-namespaces is for the table: leave out the name or the flag")
	case !slash && o.namespace == "" && o.Server != "":
		return fmt.Errorf("%.200q needs its namespace with --server: write NAMESPACE/%[1]s", arg)
	}
	return nil
}

func (o *options) run(ctx context.Context, args []string, out io.Writer) error {
	client, err := o.Connect(ctx, "forewarm-inspect")
	if err != nil {
		return err
	}
	if len(args) == 1 {
		return o.showOne(ctx, client, args[0], out)
	}
	return o.showAll(ctx, client, out)
}

// showOne prints one outlook in full.
func (o *options) showOne(ctx context.Context, c *inspectclient.Client, arg string, out io.Writer) error {
	namespace, name, slash := strings.Cut(arg, "/")
	if !slash {
		namespace, name = o.namespace, arg
	}
	if namespace == "" {
		namespace = c.Namespace
	}
	outlook, now, err := c.Outlook(ctx, namespace, name)
	if err != nil {
		return notFoundCode(err)
	}
	if o.json {
		err = writeJSON(out, outlook)
	} else {
		err = newView(out).full(outlook, now)
	}
	return errors.Join(err, checkServing(*outlook))
}

// showAll prints all outlooks of the chosen namespaces.
func (o *options) showAll(ctx context.Context, c *inspectclient.Client, out io.Writer) error {
	namespace := o.namespace
	if namespace == "" && !o.all && o.Server == "" {
		namespace = c.Namespace
	}
	list, now, err := c.Outlooks(ctx, namespace)
	if err != nil {
		return notFoundCode(err)
	}
	if o.json {
		err = writeJSON(out, list)
	} else if len(list.Items) > 0 {
		err = newView(out).summary(list.Items, now)
	}
	if err == nil && len(list.Items) == 0 {
		return exit.WithCode(codeNotFound, fmt.Errorf("no Forecasts in %s", describeNamespace(namespace)))
	}
	return errors.Join(err, checkServing(list.Items...))
}

func describeNamespace(namespace string) string {
	if namespace == "" {
		return "any namespace"
	}
	return "namespace " + namespace
}

func notFoundCode(err error) error {
	if errors.Is(err, inspectclient.ErrNotFound) {
		return exit.WithCode(codeNotFound, err)
	}
	return err
}

// checkServing returns an error with its exit code that names the Forecasts that are not serving; nil where all are.
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
	return exit.WithCode(
		codeNotServing,
		fmt.Errorf("%d of %d Forecasts are not serving: %s", len(not), len(shown), names),
	)
}

func writeJSON(out io.Writer, object any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(object)
}
