package adopt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/adopt"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// The command "convert" creates Forecasts from the metrics of prometheus-adapter and from KEDA's prometheus triggers.

const convertAbout = `Convert writes Forecasts in shadow mode for the metrics that HPAs read from prometheus-adapter, and for the prometheus
triggers of KEDA's ScaledObjects. Cron triggers, and CronHorizontalPodAutoscalers, become events with replicas. The
output is YAML; comments explain each choice. docs/migrate.md describes the whole migration.

It reads prometheus-adapter's rules from --rules: the configuration file, or the ConfigMap that contains it. It reads
the HPAs and ScaledObjects from a cluster with your own permissions, or from --file. An HPA on an External metric needs
no change, because the Forecast serves the metric under the same name and labels. For other HPAs and for ScaledObjects,
convert also writes the new version of the object: as comments in the output or, with --out, to the folder
after-handover. Apply it after the handover.

Everything that cannot be converted is listed with the reason and what to do. This command changes nothing.

Exit codes:
  0  everything was converted
  1  wrong usage, or something cannot be read
  3  something was left out`

const convertExamples = `  forewarm convert --rules adapter-config.yaml -A
  kubectl get cm -n monitoring prometheus-adapter -o yaml | forewarm convert -A --rules - --out forecasts
  forewarm convert --rules adapter-config.yaml -A --json | jq '.leftOut[]'`

// convertOptions has the values of the flags.
type convertOptions struct {
	objectSource

	rules, out, tenant string
	series             []string
	output             cmdline.Output
}

// NewConvert is the command "convert".
func NewConvert() *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:     "convert [--rules FILE]",
		Short:   "Write Forecasts for the metrics of prometheus-adapter and KEDA",
		Long:    convertAbout,
		Example: convertExamples,
		Args:    cmdline.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := o.Validate()
			if o.rules == "-" && o.File == "-" {
				err = errors.Join(err, errors.New("write - for one of --rules and --file only"))
			}
			if err != nil {
				return cmdline.UsageError(err)
			}
			return convert(cmd.Context(), &o, cmd)
		},
	}
	flags := cmd.Flags()
	o.AddFlags(flags)
	flags.StringVar(&o.rules, "rules", "",
		"file with prometheus-adapter's configuration, or with the ConfigMap that contains it")
	flags.StringSliceVar(&o.series, "series", nil,
		"names of series that exist in Prometheus; set them if several rules could produce a metric")
	flags.StringVar(&o.out, "out", "", "folder to write one file per object to (default: standard output)")
	flags.StringVar(
		&o.tenant,
		"tenant-label",
		"namespace",
		"value of Forewarm's flag --tenant-label: the label that contains the namespace",
	)
	o.output.AddFlags(flags, "print what was converted and left out")
	return cmd
}

func convert(ctx context.Context, o *convertOptions, cmd *cobra.Command) error {
	cfg := adopt.ConvertConfig{Series: o.series, TenantLabel: o.tenant}
	if o.rules != "" {
		data, err := cmdline.ReadInput(ctx, cmd.InOrStdin(), o.rules, manifest.MaxFile)
		if err != nil {
			return err
		}
		if cfg.Rules, err = adopt.ReadRules(o.rules, data); err != nil {
			return err
		}
	}
	found, err := read(ctx, &o.objectSource, cmd.InOrStdin(), adopt.AutoscalerKinds())
	if err != nil {
		return err
	}
	if len(found.Objects)+len(found.Unread) == 0 {
		return errors.New("there is no HPA and no ScaledObject: choose another namespace (-n), or all namespaces (-A)")
	}
	c, out := adopt.Convert(cfg, found), cmd.OutOrStdout()
	if o.out != "" || !o.output.ForScripts() {
		err = writeObjects(out, o.out, c.Converted)
	}
	if o.output.ForScripts() {
		err = errors.Join(err, o.output.Write(out, &c))
	}
	for _, l := range c.LeftOut {
		what := strings.TrimSpace(l.Object + " " + l.Metric)
		fmt.Fprint(cmd.ErrOrStderr(),
			cmdline.Note(strings.TrimPrefix(what+" is left out: "+l.Reason, " is left out: ")))
	}
	if err == nil && len(c.LeftOut) > 0 {
		err = fmt.Errorf("%d converted, %d left out", len(c.Converted), len(c.LeftOut))
		return cmdline.WithExitCode(cmdline.Findings, err)
	}
	return err
}
