// Command reference prints a page of docs/reference: the commands of forewarm (cli), the metrics of both programs (metrics), or
// the conditions of the objects (conditions), which it reads from the code in the working directory.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
	"github.com/forewarm/forewarm/cmd/internal/agent"
	"github.com/forewarm/forewarm/hack/reference"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/kube/fleets"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/kube/peers"
	"github.com/forewarm/forewarm/pkg/kube/pools"
	"github.com/forewarm/forewarm/pkg/kube/writes"
	"github.com/forewarm/forewarm/pkg/serve/kedaserver"
	"github.com/forewarm/forewarm/pkg/serve/telemetry"
	"github.com/forewarm/forewarm/pkg/source/embedded"
	"github.com/forewarm/forewarm/pkg/source/tenants"
)

func main() {
	var err error
	switch strings.Join(os.Args[1:], " ") {
	case "cli":
		err = commands(os.Stdout)
	case "metrics":
		err = metrics(os.Stdout)
	case "conditions":
		err = conditions(os.Stdout)
	default:
		err = errors.New("usage: reference cli|metrics|conditions")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// commands prints the help of each command.
func commands(out io.Writer) error {
	program := cli.Program{}
	names := []string{""}
	for _, cmd := range program.Command().Commands() {
		if cmd.Hidden {
			continue
		}
		names = append(names, cmd.Name())
		for _, sub := range cmd.Commands() {
			names = append(names, cmd.Name()+" "+sub.Name())
		}
	}
	fmt.Fprint(out, "<!-- Written by hack/generate.sh. Do not edit. -->\n\n# Commands and flags\n\n"+
		"Each section shows the text that the command prints with `--help`.\n")
	for _, name := range names {
		words := strings.Fields(name)
		var help strings.Builder
		if code := program.Run(context.Background(), append(words, "--help"), &help, os.Stderr); code != 0 {
			return fmt.Errorf("forewarm %s --help: exit code %d", name, code)
		}
		reference.WriteHelp(out, strings.Join(append([]string{"forewarm"}, words...), " "), help.String())
	}
	var help strings.Builder
	if code := (agent.Program{}).Run(context.Background(), []string{"--help"}, &help, os.Stderr); code != 0 {
		return fmt.Errorf("forewarm-agent --help: exit code %d", code)
	}
	reference.WriteHelp(out, "forewarm-agent", help.String())
	return nil
}

// metrics prints the metrics that the collectors of /metrics describe.
func metrics(out io.Writer) error {
	engine, closeEngine, err := openEmptyEngine()
	if err != nil {
		return err
	}
	defer closeEngine()
	fmt.Fprint(out, "<!-- Written by hack/generate.sh. Do not edit. -->\n\n# Metrics\n\n"+
		"`forewarm serve` and `forewarm-agent` serve these metrics at `/metrics`. A metric whose value is unknown is "+
		"absent. The\nmetrics of libraries (`go_*`, `process_*`, `apiserver_*`, `rest_client_*` and others) are not "+
		"listed here.\n")
	return reference.WriteMetrics(out, append(clusterMetrics(),
		reference.Section{
			Title:      "Sources by namespace",
			Text:       "Present only with `--sources-file`. The label `source` is the name of the source in that file.",
			Collectors: []prometheus.Collector{new(tenants.Sources)},
		},
		reference.Section{
			Title: "Embedded engine", Text: "Present only with `--scrape-config`.",
			Collectors: []prometheus.Collector{engine},
		},
		reference.Section{
			Title: "KEDA's external scaler", Text: "Present only with `--keda-address`.",
			Collectors: []prometheus.Collector{
				prometheus.WrapCollectorWithPrefix(kedaserver.MetricsPrefix, grpcprom.NewServerMetrics()),
			},
		},
		reference.Section{
			Title: "forewarm-agent",
			Text: "The GPUs of one node, and the pods that use them. The labels `uuid` and `gpu_instance` identify the GPU " +
				"or MIG instance. The window is 30 s by default (`--window`).",
			Collectors: agent.Program{}.Collectors(agent.Defaults(), nil),
		},
	)...)
}

// clusterMetrics returns the metrics of Forecasts, and of Forewarm's work in a cluster.
func clusterMetrics() []reference.Section {
	return []reference.Section{
		{
			Title: "Forecasts",
			Text: "All Forecasts, and the loop that refreshes them. The labels `namespace` and `forecast` identify the " +
				"Forecast.",
			Collectors: []prometheus.Collector{telemetry.New(nil, nil, nil)},
		},
		{
			Title:      "Workloads and autoscalers",
			Text:       "Present only in a cluster. The labels `namespace` and `forecast` identify the Forecast.",
			Collectors: []prometheus.Collector{new(forecasts.Objects)},
		},
		{
			Title: "Warm pools", Text: "Only the leader (one of the adapter replicas) serves these metrics.",
			Collectors: []prometheus.Collector{new(pools.Controller)},
		},
		{
			Title:      "Fleets",
			Text:       "Present only with `--fleets`. Only the leader (one of the adapter replicas) serves these metrics.",
			Collectors: []prometheus.Collector{new(fleets.StatusWriter)},
		},
		{
			Title: "Statuses",
			Text: "Only the leader (one of the adapter replicas) serves these metrics. The label `kind` is the kind of the " +
				"objects.",
			Collectors: []prometheus.Collector{writes.NewQueue("Forecast", 0, 0, nil)},
		},
		{
			Title:      "API groups",
			Text:       "Present only in a cluster.",
			Collectors: []prometheus.Collector{new(aggregation.Groups)},
		},
		{
			Title:      "Replicas of Forewarm",
			Text:       "Present only in a cluster. Every adapter replica compares all adapter replicas.",
			Collectors: []prometheus.Collector{new(peers.Watch)},
		},
		{
			Title: "Certificates", Text: "Present only in a cluster.",
			Collectors: []prometheus.Collector{aggregation.ExpiryCollector{}},
		},
	}
}

// conditions prints the constants of the conditions and their reasons.
func conditions(out io.Writer) error {
	fmt.Fprint(out, "<!-- Written by hack/generate.sh. Do not edit. -->\n\n# Conditions and their reasons\n\n"+
		"`kubectl describe` shows the conditions of an object, each with a status, a reason and a message. The message has the "+
		"numbers.\n")
	return reference.WriteConditions(out,
		reference.ConditionKind{
			Title: "Forecast",
			Text: "The Outlook of a Forecast has the same conditions, except `Reachable` and `ReplicasAgree`. If a condition is absent, " +
				"there is nothing to report.",
			Folders: []string{
				"pkg/core/snapshot",
				"pkg/core/decide/objective",
				"pkg/refresh",
				"pkg/kube/aggregation",
				"pkg/kube/peers",
			},
		},
		reference.ConditionKind{
			Title: "DemandEvent", Text: "See [known events](../events.md).", Folders: []string{"pkg/kube/demandevents"},
		},
		reference.ConditionKind{
			Title:   "WarmPool",
			Text:    "See [warm pools](../warm-pools.md).",
			Folders: []string{"pkg/api/v1alpha1/warmpool_conditions.go"},
		},
		reference.ConditionKind{
			Title:   "GPUFleet",
			Text:    "See [a fixed number of GPUs](../fleet.md).",
			Folders: []string{"pkg/api/v1alpha1/gpufleet_conditions.go"},
		},
		reference.ConditionKind{
			Title:   "Every object",
			Text:    "Forecasts, DemandEvents, WarmPools and GPUFleets have these conditions as well.",
			Folders: []string{"pkg/kube/writes"},
		},
	)
}

// openEmptyEngine opens an engine without data and without targets.
func openEmptyEngine() (engine *embedded.Engine, closeEngine func(), err error) {
	dir, err := os.MkdirTemp("", "forewarm-reference-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { os.RemoveAll(dir) } //nolint:errcheck // A temporary folder.
	file := filepath.Join(dir, "scrape.yaml")
	if err = os.WriteFile(file, []byte("scrape_configs: [{job_name: none}]\n"), 0o600); err == nil {
		engine, err = embedded.Open(embedded.Config{Dir: filepath.Join(dir, "data"), ScrapeFile: file},
			slog.New(slog.DiscardHandler))
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return engine, func() { engine.Close(); remove() }, nil //nolint:errcheck // It holds no data.
}
