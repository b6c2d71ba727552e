package convertcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/files"
	"github.com/forewarm/forewarm/pkg/manifest/strictyaml"
)

// codeLeftOut is the exit code where not all was converted.
const codeLeftOut = 3

const about = `Convert writes Forecasts in shadow mode for the metrics that HPAs read from prometheus-adapter and for the
prometheus triggers of KEDA's ScaledObjects, as YAML with the reason of each choice. docs/migrate.md has the whole way.

It reads prometheus-adapter's rules from --rules: its configuration, or the ConfigMap with it. It reads HPAs and
ScaledObjects from --file (a file, a folder, - for standard input), else from the cluster with your own rights. An HPA of
an External metric needs no change: the Forecast answers by the same name and labels. Other HPAs and ScaledObjects are
written as they must be after the handover, in comments or in a folder of their own.

What cannot be converted is listed with the reason and what to do. This command changes nothing.

Exit codes:
  0  all was converted
  1  wrong usage, or something cannot be read
  3  something was left out`

const examples = `  forewarm convert --rules adapter-config.yaml
  kubectl get cm -n monitoring prometheus-adapter -o yaml | forewarm convert --rules - --out forecasts
  forewarm convert --rules adapter-config.yaml --json | jq '.leftOut[]'`

// options are the flags.
type options struct {
	kubeconfig, context, namespace, rules, file, out, tenant string
	timeout                                                  time.Duration
	series                                                   []string
	output                                                   cmdline.Output
}

// New is the command "convert".
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "convert [--rules FILE]",
		Short:   "Write Forecasts for the metrics of prometheus-adapter and KEDA",
		Long:    about,
		Example: examples,
		Args:    exit.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.timeout <= 0 || o.rules == "-" && o.file == "-" {
				return exit.Usage(errors.New("write a positive --timeout, and - for one of --rules and --file only"))
			}
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.rules, "rules", "", "prometheus-adapter's configuration, or a ConfigMap with it")
	flags.StringVarP(
		&o.file,
		"file",
		"f",
		"",
		"file or folder of HPAs and ScaledObjects (default: those of the cluster)",
	)
	flags.StringSliceVar(&o.series, "series", nil, "names of series that exist, where several rules may give a metric")
	flags.StringVar(&o.out, "out", "", "folder to write to (default: the standard output)")
	flags.StringVar(&o.tenant, "tenant-label", "namespace", "label of namespaces that Forewarm is run with")
	o.output.AddFlags(flags, "print what was converted and left out")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the HPAs and ScaledObjects (default: all)")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig to use instead of the usual one")
	flags.StringVar(&o.context, "context", "", "context of the kubeconfig")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Second, "how long to wait for each answer of the cluster")
	return cmd
}

func (o *options) run(ctx context.Context, in io.Reader, out, messages io.Writer) error {
	c := conversion{Converted: []converted{}, LeftOut: []leftOut{}, tenant: o.tenant, known: o.series}
	if o.rules != "" {
		data, err := read(ctx, in, o.rules)
		if err != nil {
			return err
		}
		var broken []leftOut
		if c.rules, broken, err = readRules(o.rules, data); err != nil {
			return err
		}
		c.LeftOut = append(c.LeftOut, broken...)
	}
	find := o.fromCluster
	if o.file != "" {
		find = func(ctx context.Context) ([]*unstructured.Unstructured, error) { return fromFiles(ctx, in, o.file) }
	}
	scalers, err := find(ctx)
	if err != nil {
		return err
	}
	c.convert(scalers)
	if o.output.ForScripts() {
		err = o.output.Write(out, &c)
	}
	if err == nil && (!o.output.ForScripts() || o.out != "") {
		err = c.print(out, o.out)
	}
	for _, l := range c.LeftOut {
		fmt.Fprintf(messages, "left out: %s: %s\n", strings.TrimSpace(l.Object+" "+l.Metric), l.Reason)
	}
	if err == nil && len(c.LeftOut) > 0 {
		err = exit.WithCode(codeLeftOut, fmt.Errorf("%d converted, %d left out", len(c.Converted), len(c.LeftOut)))
	}
	return err
}

func read(ctx context.Context, in io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return files.ReadFrom(ctx, in, "stdin", strictyaml.MaxFile)
	}
	return files.Read(ctx, path, strictyaml.MaxFile)
}

// hpaDocument is a HorizontalPodAutoscaler in a file.
type hpaDocument struct {
	strictyaml.Header `json:",inline"`

	Spec autoscalingv2.HorizontalPodAutoscalerSpec `json:"spec"`
}

// fromFiles reads the HPAs and ScaledObjects of a file or a folder.
func fromFiles(ctx context.Context, in io.Reader, path string) (out []*unstructured.Unstructured, err error) {
	paths, err := manifests(path)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, path := range paths {
		var data []byte
		if data, err = read(ctx, in, path); err != nil {
			return nil, err
		}
		for _, d := range strictyaml.Documents(path, data) {
			one, problem := scalerOf(d)
			problems = append(problems, problem)
			if one != nil {
				out = append(out, one)
			}
		}
	}
	if err = errors.Join(problems...); err == nil && len(out) == 0 {
		err = fmt.Errorf(
			"%s: no HorizontalPodAutoscaler and no ScaledObject: kubectl get hpa NAME -o yaml prints one",
			path,
		)
	}
	return out, err
}

// manifests are the paths of the manifests in a folder, or that of a file.
func manifests(path string) (paths []string, err error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, nil //nolint:nilerr // Reading it gives the error.
	}
	for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
		found, err := filepath.Glob(filepath.Join(path, pattern))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// scalerOf reads a document; nil for one of another kind.
func scalerOf(d strictyaml.Document) (*unstructured.Unstructured, error) {
	if d.Broken != nil {
		return nil, d.Broken.Err()
	}
	kind := d.Text("kind")
	switch {
	case kind == "List":
		return nil, d.Err("kind List is not supported here: write a document for each, separated by ---")
	case kind != "HorizontalPodAutoscaler" && kind != kindScaledObject:
		return nil, nil //nolint:nilnil // See above.
	case !slices.Contains([]string{"autoscaling/v2", "keda.sh/v1alpha1"}, d.Text("apiVersion")):
		return nil, d.Err("its apiVersion is not supported: write autoscaling/v2 or keda.sh/v1alpha1")
	}
	fields := reflect.TypeFor[hpaDocument]()
	if kind == kindScaledObject {
		fields = reflect.TypeFor[map[string]any]() // KEDA's fields are its own.
	}
	reading := d.Check(fields)
	one := &unstructured.Unstructured{}
	if err := errors.Join(append(reading.Errs(), d.Decode(&one.Object))...); err != nil {
		return nil, err
	}
	one.SetNamespace(cmp.Or(one.GetNamespace(), metav1.NamespaceDefault))
	wrong := append(validation.IsDNS1123Subdomain(one.GetName()), validation.IsDNS1123Label(one.GetNamespace())...)
	if wrong != nil { // It will be the name of a file.
		return nil, d.Err("its name or namespace is not one: " + wrong[0])
	}
	return one, nil
}

// fromCluster lists the HPAs and ScaledObjects of a namespace, or of all.
func (o *options) fromCluster(ctx context.Context) (out []*unstructured.Unstructured, err error) {
	config, _, err := cmdline.LoadKubeconfig(ctx, o.kubeconfig, o.context)
	if err != nil {
		return nil, err
	}
	config.Timeout = o.timeout
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kind := autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers")
	hpas, err := cmdline.ListAll(ctx, client.Resource(kind).Namespace(o.namespace))
	if err != nil {
		return nil, fmt.Errorf("list HPAs: %w: ask for this right, name one namespace with -n, or write --file", err)
	}
	keda := schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
	scaled, err := cmdline.ListAll(ctx, client.Resource(keda).Namespace(o.namespace))
	if err != nil && !apierrors.IsNotFound(err) { // There may be no KEDA.
		return nil, fmt.Errorf(
			"list ScaledObjects: %w: ask for this right, name one namespace with -n, or write --file",
			err,
		)
	}
	all := slices.Concat(hpas, scaled)
	for i := range all {
		out = append(out, &all[i])
	}
	return out, nil
}
