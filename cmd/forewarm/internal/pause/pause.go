// Package pause is the commands "pause" and "resume", which write or remove an annotation with the user's own rights.
package pause

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/manifest"
)

const about = `%s

It takes effect within a second, and the HPA follows at its next sync (15 s). Forewarm learns on while a Forecast is
paused, and loses nothing. It writes with your own rights: get, list and patch of forecasts.forewarm.dev.

Without a name it takes all Forecasts of --namespace, or of --all-namespaces. Of names, the namespace is --namespace or
that of the kubeconfig.

Exit codes:
  0  all are as asked; with --dry-run, they would be
  1  wrong usage, or the cluster cannot be reached or refuses
  2  there is no Forecast
  3  at least one Forecast could not be changed; it is named`

const examples = `  forewarm VERB -A
  forewarm VERB -n inference llama-inflight
  forewarm VERB -n inference --dry-run`

// options are the flags.
type options struct {
	cmdline.Cluster

	namespace          string
	pause, all, dryRun bool
	output             cmdline.Output
}

// New is the command "pause".
func New() *cobra.Command {
	return newCommand(&options{pause: true}, "pause", "Give autoscalers the observed demand, as before Forewarm",
		"Pause serves the observed demand instead of the forecast, with the headroom of the HPA before Forewarm\n"+
			"(spec.scaling.before). It sets the annotation forewarm.dev/pause, which GitOps does not revert.")
}

// NewResume is the command "resume".
func NewResume() *cobra.Command {
	return newCommand(&options{}, "resume", "End a pause: serve the forecast again",
		"Resume removes the annotation forewarm.dev/pause, so that the forecast is served again.")
}

func newCommand(o *options, verb, short, what string) *cobra.Command {
	cmd := &cobra.Command{
		Use: verb + " [NAME]...", Short: short, Long: fmt.Sprintf(about, what),
		Example: strings.ReplaceAll(examples, "VERB", verb),
		RunE: func(cmd *cobra.Command, names []string) error {
			switch err := o.Validate(); {
			case err != nil:
				return cmdline.UsageError(err)
			case o.all && (o.namespace != "" || len(names) > 0):
				return cmdline.UsageError(errors.New("--all-namespaces contradicts --namespace and names: keep one"))
			case len(names) == 0 && o.namespace == "" && !o.all:
				return cmdline.UsageError(
					errors.New("no Forecast is named: write a NAME, --namespace or --all-namespaces"),
				)
			}
			return o.run(cmd.Context(), names, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the names, or whose Forecasts are all meant")
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "all Forecasts of all namespaces")
	flags.BoolVar(&o.dryRun, "dry-run", false, "ask the cluster whether it would work, and change nothing")
	o.output.AddFlags(flags, "print the result")
	o.AddFlags(flags)
	return cmd
}

// result is what became of one Forecast: done, unchanged or failed, and what there is to say about that.
type result struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Result    string `json:"result"`
	Message   string `json:"message,omitempty"`
}

func (o *options) run(ctx context.Context, names []string, out io.Writer) error {
	objects, namespace, err := o.Client(ctx, "pause")
	if err != nil {
		return err
	}
	if namespace = cmp.Or(o.namespace, namespace); o.all {
		namespace = ""
	}
	forecasts := objects.Resource(v1alpha1.GroupVersion().WithResource("forecasts"))
	all, err := o.change(ctx, forecasts, namespace, names)
	if err != nil {
		return err
	}
	var lines [][]string
	failed := 0
	for _, r := range all {
		lines = append(lines, []string{r.Namespace, r.Name, strings.TrimSuffix(r.Result+": "+r.Message, ": ")})
		if r.Result == "failed" {
			failed++
		}
	}
	if o.output.ForScripts() {
		err = o.output.Write(out, map[string]any{"dryRun": o.dryRun, "forecasts": all})
	} else if len(all) > 0 {
		err = cmdline.Table(out, "NAMESPACE\tNAME\tRESULT", lines)
	}
	switch {
	case len(all) == 0:
		return cmdline.WithExitCode(cmdline.NotFound, errors.New("there is no Forecast"))
	case failed > 0:
		return cmdline.WithExitCode(
			cmdline.Findings,
			fmt.Errorf("%d of %d Forecasts could not be changed", failed, len(all)),
		)
	}
	return err
}

// change changes those of names in a namespace; without names all of a namespace, or of all.
func (o *options) change(
	ctx context.Context, forecasts dynamic.NamespaceableResourceInterface, namespace string, names []string,
) ([]result, error) {
	all := []result{}
	for _, name := range names {
		object, err := forecasts.Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			all = append(all, result{namespace, name, "failed", fmt.Sprintf("%.400s", err)})
			continue
		}
		all = append(all, o.apply(ctx, forecasts, object))
	}
	if len(names) > 0 {
		return all, nil
	}
	found, err := client.ListAll(ctx, forecasts.Namespace(namespace))
	if err != nil {
		return nil, fmt.Errorf("list the Forecasts: %w", err)
	}
	for i := range found {
		all = append(all, o.apply(ctx, forecasts, &found[i]))
	}
	return all, nil
}

// apply sets or removes the annotation of one object, unless it is as asked.
func (o *options) apply(
	ctx context.Context, forecasts dynamic.NamespaceableResourceInterface, object *unstructured.Unstructured,
) result {
	r := result{Namespace: object.GetNamespace(), Name: object.GetName(), Result: "unchanged"}
	value, annotated := object.GetAnnotations()[manifest.PauseAnnotation]
	wanted := "null" // It removes it.
	if o.pause {
		wanted = `"true"`
		if _, stated, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "scaling", "before"); err != nil ||
			!stated {
			r.Message = "no spec.scaling.before: its target is assumed to be " +
				humanize.ShareAsWritten(objective.AssumedTarget)
		}
	}
	if o.pause && value == "true" || !o.pause && !annotated {
		return r
	}
	// Flux removes what managers named kubectl… write.
	options := metav1.PatchOptions{FieldManager: "forewarm-pause"}
	if o.dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %s}}}`, manifest.PauseAnnotation, wanted)
	_, err := forecasts.Namespace(r.Namespace).Patch(ctx, r.Name, types.MergePatchType, []byte(patch), options)
	if r.Result = "done"; err != nil {
		r.Result, r.Message = "failed", fmt.Sprintf("%.400s", err)
	}
	return r
}
