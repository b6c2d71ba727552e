// Package explain is the command "explain": what a HorizontalPodAutoscaler computes and why, from a cluster or a file.
package explain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/inspect"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/explain"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/past"
	"github.com/forewarm/forewarm/pkg/serve/keda"
)

const about = `Explain shows what a HorizontalPodAutoscaler will compute at its next sync, and why. It shows all numbers: the value of
each metric and the replicas it asks for, the rounding and the tolerance, which metric wins, how earlier
recommendations, policies, minReplicas and maxReplicas change the result, and what the Forecast behind a metric reports.
The HPA's own status is shown next to the result. Warnings about harmful settings follow, with advice.

In a cluster it reads the HPA, the scale of its target, the metrics and the Forecasts with your own permissions. If you
are not allowed to read something, the output lists it, and the HPA's own status is used instead. For a KEDA
ScaledObject it explains the HPA that KEDA creates.

With --file (- for standard input) it needs no cluster. Give the value of each metric and the number of replicas, or
pipe in the output of "kubectl get hpa NAME -o yaml", whose status contains both. If you add --server, it reads the
values from a standalone Forewarm.

With --at it describes an earlier time. It shows what Forewarm served and how the workload was scaled at that time,
according to Forewarm's own metrics in --prometheus. It also replays the history up to that time, and shows what the
current spec would have served. It reads the current HPA and Forecasts from the cluster.

Exit codes:
  0  explained, with or without warnings
  1  wrong usage, or a required object cannot be read
  2  the HPA does not exist`

const examples = `  forewarm explain inference/llama
  forewarm explain inference/scaledobject/llama
  forewarm explain -n inference llama --json | jq .desiredReplicas
  forewarm explain inference/llama --at 3h --prometheus http://127.0.0.1:9090

  forewarm explain --file hpa.yaml --value 180 --replicas 12
  forewarm explain --file hpa.yaml --value requests=180 --value queue=7 --replicas 12 --lead-time 5m
  kubectl get hpa llama -o yaml | forewarm explain --file -
  forewarm explain --file hpa.yaml --replicas 12 --server http://127.0.0.1:8080`

// options has the values of the flags.
type options struct {
	cmdline.Connection

	namespace, file string
	values          []string
	replicas, ready int32
	leadTime        string
	output          cmdline.Output
	past            inspect.PastOptions
}

// New is the command "explain".
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "explain [NAMESPACE/][KIND/]NAME",
		Short:   "Explain what an HPA does and why",
		Long:    about,
		Example: examples,
		Args:    cmdline.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := o.validate(args)
			if err != nil {
				return cmdline.UsageError(err)
			}
			if o.file != "" {
				return runFile(cmd, &o, cfg)
			}
			return runCluster(cmd, &o, cfg)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the HPA")
	o.output.AddFlags(flags, "print the explanation")
	o.AddFlags(flags)
	flags.StringVarP(&o.file, "file", "f", "", "file with an HPA or a ScaledObject to explain, without a cluster")
	flags.StringArrayVar(&o.values, "value", nil,
		"with --file: value of the metric (180, 4.5k), or NAME=VALUE if there are several metrics")
	flags.Int32Var(&o.replicas, "replicas", explain.Unset, "with --file: number of replicas (default: from the status)")
	flags.Int32Var(&o.ready, "ready", explain.Unset, "with --file: number of ready replicas (default: all)")
	flags.StringVar(
		&o.leadTime,
		"lead-time",
		"",
		"time that a new replica takes to become ready, for example 5m; used if no Forecast has a lead time",
	)
	o.past.AddFlags(flags, "at", "describe this time")
	for _, n := range []string{"replicas", "ready"} {
		flags.Lookup(n).DefValue = "0" // The help then leaves the default out, because the description contains it.
	}
	return cmd
}

// kindOf returns the kind for one of its names; empty for other texts.
func kindOf(text string) string {
	switch strings.ToLower(text) {
	case "hpa", "horizontalpodautoscaler", "horizontalpodautoscalers":
		return hpa.KindHPA
	case "scaledobject", "scaledobjects", "so":
		return hpa.KindScaledObject
	}
	return ""
}

// validate returns what to explain, or every problem of a command line.
func (o *options) validate(args []string) (cfg explain.Config, err error) {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(args) == 1 {
		cfg, err = o.parseName(args[0])
		problems = append(problems, err)
	}
	switch {
	case o.file != "" && (o.Kubeconfig != "" || o.Context != ""):
		wrong("--file needs no cluster, leave out --kubeconfig and --context")
	case o.file != "" && !o.past.From.IsZero():
		wrong("--at needs a cluster, leave out --file")
	case o.file == "" && len(args) == 0:
		wrong("name the HPA (NAMESPACE/NAME), or a file with one (--file hpa.yaml --value 180 --replicas 12)")
	case o.file == "" && (len(o.values) > 0 || o.replicas != explain.Unset || o.ready != explain.Unset):
		wrong("--value, --replicas and --ready need --file: in a cluster, explain reads these values itself")
	}
	problems = append(problems, o.Validate(), o.past.Validate())
	number := func(flag string, n int32) {
		if n != explain.Unset && (n < 0 || n > 1_000_000_000) {
			wrong("--%s %d is not a number of replicas, write for example 12", flag, n)
		}
	}
	number("replicas", o.replicas)
	number("ready", o.ready)
	cfg.Lead, err = o.lead()
	return cfg, errors.Join(append(problems, err)...)
}

// parseName reads [NAMESPACE/][KIND/]NAME. If there are two parts, the first one is a kind if it is the name of a kind.
func (o *options) parseName(text string) (explain.Config, error) {
	parts := strings.Split(text, "/")
	wrong := func(p string) bool { return p == "" || len(p) > 253 }
	if len(parts) > 3 || slices.ContainsFunc(parts, wrong) {
		return explain.Config{}, fmt.Errorf("%.200q is not an HPA, write NAMESPACE/NAME", text)
	}
	of := explain.Config{Name: parts[len(parts)-1]}
	switch len(parts) {
	case 2:
		if of.Kind = kindOf(parts[0]); of.Kind == "" {
			of.Namespace = parts[0]
		}
	case 3:
		if of.Namespace, of.Kind = parts[0], kindOf(parts[1]); of.Kind == "" {
			return explain.Config{}, fmt.Errorf("the kind %.64q is not supported: write hpa/NAME or scaledobject/NAME",
				parts[1])
		}
	}
	if o.namespace != "" && of.Namespace != "" && o.namespace != of.Namespace {
		return explain.Config{}, fmt.Errorf("%.200q contradicts --namespace: leave one out", text)
	}
	of.Namespace = cmp.Or(of.Namespace, o.namespace)
	return of, nil
}

// lead returns the lead time from the flag; 0 if it is not given.
func (o *options) lead() (time.Duration, error) {
	if o.leadTime == "" {
		return 0, nil
	}
	lead, err := time.ParseDuration(o.leadTime)
	if err != nil || lead <= 0 || lead > 24*time.Hour {
		return 0, fmt.Errorf("--lead-time %.64q is not a duration of up to a day, write for example 5m", o.leadTime)
	}
	return lead, nil
}

// runFile explains an autoscaler in the file.
func runFile(cmd *cobra.Command, o *options, cfg explain.Config) error {
	data, err := cmdline.ReadInput(cmd.Context(), cmd.InOrStdin(), o.file, manifest.MaxFile)
	if err != nil {
		return err
	}
	name := cfg.Name
	if cfg.Kind != "" {
		name = cfg.Kind + "/" + name
	}
	f := &explain.File{
		Path: o.file, Data: data, Autoscaler: name, Values: o.values, Replicas: o.replicas, Ready: o.ready,
		Lead: cfg.Lead, Now: time.Now(), CheckTrigger: keda.CheckTrigger, Namespace: cmp.Or(cfg.Namespace, o.namespace),
	}
	if o.Server != "" {
		if f.Server, _, err = o.Config(cmd.Context(), "explain"); err != nil {
			return err
		}
	}
	explanation, err := explain.FromFile(cmd.Context(), f)
	if errors.As(err, &explain.AssumptionError{}) {
		return cmdline.UsageError(err)
	}
	if err != nil {
		return err
	}
	return write(cmd.OutOrStdout(), &o.output, explanation)
}

// runCluster explains an autoscaler in the cluster. With --at, it describes the past of the autoscaler's Forecasts.
func runCluster(cmd *cobra.Command, o *options, cfg explain.Config) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	cluster, namespace, err := o.Config(ctx, "explain")
	if err != nil {
		return fmt.Errorf("%w; set one, or explain a file (--file hpa.yaml --value 180 --replicas 12)", err)
	}
	cfg.Cluster, cfg.Namespace, cfg.Now = cluster, cmp.Or(cfg.Namespace, namespace), time.Now
	explanation, err := explain.FromCluster(ctx, cfg)
	switch {
	case apierrors.IsNotFound(err) && o.Server != "":
		const none = "%w; a standalone Forewarm has no autoscalers: add --file hpa.yaml --replicas 12"
		return cmdline.WithExitCode(cmdline.NotFound, fmt.Errorf(none, err))
	case apierrors.IsNotFound(err):
		return cmdline.WithExitCode(cmdline.NotFound, err)
	case err != nil:
		return err
	case o.past.From.IsZero():
		return write(out, &o.output, explanation)
	}
	var keys []snapshot.Key
	for i := range explanation.Metrics {
		if name := explanation.Metrics[i].Forecast; name != "" {
			keys = append(keys, snapshot.Key{Namespace: cfg.Namespace, Name: name})
		}
	}
	if len(keys) == 0 {
		return fmt.Errorf("%s reads no Forecast, so Forewarm has no past to show for it", explanation.HPA)
	}
	all, err := past.Read(ctx, o.past.Config, cluster, keys, o.past.From)
	if err != nil {
		return err
	}
	return inspect.WritePast(out, &o.output, all)
}
