// Command up starts a cluster with Forewarm and keeps it until it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

func main() {
	keda := flag.Bool("keda", false, "with KEDA, which then owns external.metrics.k8s.io")
	flag.Parse()
	if err := run(*keda); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// scrape makes Prometheus scrape itself, so that there is something to forecast.
const scrape = `
global: {scrape_interval: 5s, scrape_timeout: 5s}
scrape_configs: [{job_name: prometheus, static_configs: [{targets: [SELF], labels: {namespace: default}}]}]
`

func run(keda bool) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root, err := clustertest.Root()
	if err != nil {
		return err
	}
	components, err := clustertest.Build(ctx, root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "forewarm-e2e-")
	if err != nil {
		return fmt.Errorf("make a folder for the cluster: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := clustertest.Start(ctx, clustertest.Options{
		Dir: dir, Components: components, KEDA: keda,
		Progress: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	if err := install(ctx, c); err != nil {
		return err
	}
	fmt.Printf(`
export KUBECONFIG=%s PATH=%s:$PATH

Nodes, GPUs and pods are simulated: a pod becomes ready after the delay in its annotation start.e2e/delay. Prometheus
scrapes itself, as namespace default: a Forecast there can use the query sum(up). The logs are in %s. Ctrl-C stops
everything.
`, c.Kubeconfig, components.Kubernetes, filepath.Dir(c.Kubeconfig))
	<-ctx.Done()
	return nil
}

// install starts Prometheus and Forewarm.
func install(ctx context.Context, c *clustertest.Cluster) error {
	c.Progress("starting Prometheus and forewarm")
	prometheus, err := c.StartPrometheus(ctx, scrape)
	if err != nil {
		return err
	}
	if err := c.Install(ctx, "deploy/default"); err != nil {
		return err
	}
	if _, err := c.StartForewarm(ctx, "forewarm", "--prometheus-url="+prometheus.URL); err != nil {
		return err
	}
	return c.WaitAvailable(ctx)
}
