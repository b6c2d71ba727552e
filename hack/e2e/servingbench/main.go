// Command servingbench measures what serving costs beside real components. Each runs as a process of its own:
//
//   - serving: the CPU time and the latency of a GET of one external metric, as the kube-apiserver's aggregator sends it, at
//     several rates: Forewarm, prometheus-adapter and KEDA's metrics adapter beside a bare TLS server that writes Forewarm's bytes.
//   - hpas: a fleet of HPAs and Forecasts from its one apply until all are scaled, and a minute of its syncs every five seconds,
//     by the real HPA controller.
//
// All processes listen on loopback, use a temporary folder, and stop with the command.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/spf13/pflag"
)

// options are the command line's flags.
type options struct {
	rates  []int
	rounds int
	round  time.Duration
	hpas   []int
	json   bool
	// bare is the port of the bare server that this process then is.
	bare int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "servingbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var o options
	flags := pflag.NewFlagSet("servingbench", pflag.ContinueOnError)
	flags.IntSliceVar(&o.rates, "rates", []int{500, 1500}, "requests a second, measured one after the other")
	flags.IntVar(&o.rounds, "rounds", 5, "how often each server is measured at each rate; figures are medians")
	flags.DurationVar(&o.round, "round", 10*time.Second, "how long one measurement takes")
	flags.IntSliceVar(&o.hpas, "hpas", []int{300, 500}, "sizes of the fleets of HPAs, one after the other")
	flags.BoolVar(&o.json, "json", false, "print JSON instead of tables")
	flags.IntVar(&o.bare, "bare", 0, "be the bare server on this port, in a cluster's folder")
	if err := flags.Parse(os.Args[1:]); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	if o.bare != 0 {
		return serveBare(ctx, o.bare)
	}
	root, err := clustertest.Root()
	if err != nil {
		return err
	}
	components, err := clustertest.Build(ctx, root)
	if err != nil {
		return err
	}
	var report struct {
		Serving []reading `json:"serving,omitempty"`
		Fleets  []fleet   `json:"fleets,omitempty"`
	}
	only := flags.Args()
	if len(only) == 0 || slices.Contains(only, "serving") {
		err = inCluster(ctx, clustertest.Options{Components: components, KEDA: true}, func(c *clustertest.Cluster) (err error) {
			report.Serving, err = measureServing(ctx, c, o)
			return err
		})
	}
	for _, n := range o.hpas {
		if err != nil || len(only) > 0 && !slices.Contains(only, "hpas") {
			break
		}
		cluster := clustertest.Options{Components: components, Sync: 5 * time.Second}
		err = inCluster(ctx, cluster, func(c *clustertest.Cluster) error {
			f, err := measureFleet(ctx, c, n)
			report.Fleets = append(report.Fleets, f)
			return err
		})
	}
	if err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(report)
	}
	printServing(report.Serving)
	printFleets(report.Fleets)
	return nil
}

// inCluster does something in a cluster, and ends it.
func inCluster(ctx context.Context, o clustertest.Options, do func(*clustertest.Cluster) error) (err error) {
	if o.Dir, err = os.MkdirTemp("", "servingbench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	o.Progress = progress
	c, err := clustertest.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	return do(c)
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// process is a cluster's by its name.
func process(c *clustertest.Cluster, name string) *processtest.Process {
	all := c.Processes()
	return all[slices.IndexFunc(all, func(p *processtest.Process) bool { return p.Name == name })]
}

// cpu is the time that processes have spent so far.
func cpu(processes ...*processtest.Process) (sum time.Duration) {
	for _, p := range processes {
		sum += p.Usage().CPU
	}
	return sum
}

// each joins what is made of each number below n, as documents of YAML.
func each(n int, document func(i string) string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = document(strconv.Itoa(i))
	}
	return strings.Join(out, "\n---\n")
}
