package serve

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

const about = `Serve reads the history of each Forecast's demand, forecasts it, and serves the forecast:

  external.metrics.k8s.io  for HorizontalPodAutoscalers (metric type External)
  custom.metrics.k8s.io    for HorizontalPodAutoscalers (metric type Object)
  inspect.forewarm.dev     outlooks, for kubectl, 'forewarm inspect' and the browser
  externalscaler (gRPC)    for KEDA's external and external-push triggers, if --keda-address is set
  /metrics                 for Prometheus
  /livez, /readyz          health endpoints, which list failing checks and show the startup progress

In a cluster it serves TLS, and the cluster authenticates and authorizes every request. With --standalone it serves
plain HTTP on 127.0.0.1 and reads Forecasts from --config-dir.

The history comes from a Prometheus (--prometheus-url), or from the embedded engine: Prometheus' own storage and
scraper, which scrapes the targets in --scrape-config.`

const examples = `  forewarm serve --standalone --config-dir forecasts --prometheus-url http://127.0.0.1:9090
  forewarm serve --standalone --config-dir forecasts --scrape-config scrape.yaml --data-dir data
  forewarm serve --prometheus-url http://prometheus.monitoring:9090`

// New is the command "serve".
func New() *cobra.Command {
	options := Defaults()
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Serve forecasts as metrics",
		Long:    about,
		Example: examples,
		Args:    cmdline.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := options.Validate(); err != nil {
				return cmdline.UsageError(err)
			}
			options.Version = cmd.Root().Version
			return runServer(cmd.Context(), options, options.Log.New(cmd.ErrOrStderr()))
		},
	}
	sections := options.Flags()
	for _, name := range sections.Order {
		cmd.Flags().AddFlagSet(sections.FlagSets[name])
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(cmd.OutOrStdout(), cmd, sections) })
	return cmd
}

// printHelp prints the flags in sections, because there are too many for one list.
func printHelp(out io.Writer, cmd *cobra.Command, sections *cliflag.NamedFlagSets) {
	const columns = 110
	fmt.Fprintf(out, "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n", cmd.Long, cmd.UseLine(), cmd.Example)
	for _, name := range sections.Order {
		fmt.Fprintf(out, "\n%s:\n%s", name, sections.FlagSets[name].FlagUsagesWrapped(columns))
	}
	fmt.Fprint(out, "\nIt also accepts the other flags of an aggregated API server, for example --tls-min-version.\n")
}
