package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/hack/processtest"
)

// options are the command line's flags.
type options struct {
	forecasts  int
	namespaces int
	days       int
	asks       []string
	binary     string
	watch      time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "startbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var o options
	flags := pflag.NewFlagSet("startbench", pflag.ContinueOnError)
	flags.IntVar(&o.forecasts, "forecasts", 1000, "how many Forecasts, each with a series of its own")
	flags.IntVar(&o.namespaces, "namespaces", 1, "in how many namespaces they are")
	flags.IntVar(&o.days, "days", 14, "length of the history, in days of one-minute samples")
	flags.StringSliceVar(
		&o.asks,
		"ask",
		[]string{"quantile", "objective"},
		"goals of the Forecasts, measured one after the other: quantile, objective, mixed (every other one an objective)",
	)
	flags.StringVar(&o.binary, "binary", "bin/forewarm", "the forewarm to start")
	flags.DurationVar(&o.watch, "watch", 3*time.Minute, "how long to watch the steps after the start")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	for _, ask := range o.asks {
		if goals()[ask] == nil {
			return fmt.Errorf("--ask %s is unknown: write quantile, objective or mixed", ask)
		}
	}
	prometheus, err := exec.LookPath("prometheus")
	if err != nil {
		return errors.New("no prometheus on PATH: install one, on Debian by `apt-get install prometheus`")
	}
	dir, err := os.MkdirTemp("", "startbench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A temporary folder.
	return measure(ctx, o, prometheus, dir, out)
}

func measure(ctx context.Context, o options, binary, dir string, out io.Writer) error {
	begun := time.Now()
	if err := writeHistory(ctx, filepath.Join(dir, "data"), o); err != nil {
		return err
	}
	fmt.Fprintf(out, "%-12s %d series of %d days by the minute, in %s\n", "history", o.forecasts, o.days, since(begun))
	prometheus, err := startPrometheus(ctx, binary, dir)
	if err != nil {
		return err
	}
	defer prometheus.Stop() //nolint:errcheck // Killed where it does not stop.
	for _, ask := range o.asks {
		fmt.Fprintf(out, "\n%d Forecasts with: %s\n", o.forecasts, ask)
		if err = measureStart(ctx, o, ask, environment{dir, prometheus, out}); err != nil {
			return err
		}
	}
	return nil
}

// environment is the environment of every start.
type environment struct {
	dir        string
	prometheus *server
	out        io.Writer
}

// measureStart starts forewarm with Forecasts of one goal, reports, and stops it.
func measureStart(ctx context.Context, o options, ask string, b environment) error {
	forecasts, err := writeForecasts(b.dir, o, ask)
	if err != nil {
		return err
	}
	before := b.prometheus.Usage()
	forewarm, err := startForewarm(ctx, o, b.dir, forecasts, b.prometheus.url)
	if err != nil {
		return err
	}
	defer forewarm.Stop() //nolint:errcheck // Killed where it does not stop.
	return report(ctx, o, forewarm, before, b)
}

// report follows the start and the steps after it.
func report(ctx context.Context, o options, forewarm *server, before processtest.Usage, b environment) error {
	begun := time.Now()
	last := ""
	tell := func(answer string) {
		if line := waitsFor(answer); line != last && time.Since(begun) > time.Second {
			fmt.Fprintf(b.out, "%-12s %s\n", since(begun), line)
			last = line
		}
	}
	err := forewarm.Await(ctx, time.Hour, func(ctx context.Context) error { return forewarm.readyz(ctx, tell) })
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%-12s after %s: %s\n", "first answers", since(begun), usageText(forewarm.Usage()))
	err = forewarm.Await(ctx, time.Hour, func(context.Context) error {
		text, unread := os.ReadFile(forewarm.Log) // All metrics of so many cost more than a step.
		if unread == nil && bytes.Contains(text, []byte("Forecasts answer from their newest history")) &&
			!bytes.Contains(text, []byte("all Forecasts have their whole history")) {
			return errors.New("some Forecasts have a part of their history")
		}
		return unread
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%-12s after %s\n", "all whole", since(begun))
	start, source := forewarm.Usage(), b.prometheus.Usage()
	queries, err := b.prometheus.metric(ctx, queriesAnswered)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%-12s forewarm %s, prometheus %s\n", "start cost", usageText(start),
		usageText(processtest.Usage{CPU: source.CPU - before.CPU, Resident: source.Resident}))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(o.watch):
	}
	return reportSteps(ctx, o, forewarm, cost{start, source, queries}, b)
}

// cost is what both processes have used, and how many queries the source has answered.
type cost struct {
	forewarm, source processtest.Usage
	queries          float64
}

// reportSteps reports what the steps since a time have cost.
func reportSteps(ctx context.Context, o options, forewarm *server, before cost, b environment) error {
	end, source := forewarm.Usage(), b.prometheus.Usage()
	queries, err := b.prometheus.metric(ctx, queriesAnswered)
	if err != nil {
		return err
	}
	step, err := forewarm.metric(ctx, "forewarm_refresh_step_seconds")
	if err != nil {
		return err
	}
	minutes := o.watch.Minutes()
	fmt.Fprintf(b.out, "%-12s %.2f s CPU a minute for %d Forecasts, rebuilds included; the longest step took %.2f s\n",
		"steps", (end.CPU-before.forewarm.CPU).Seconds()/minutes, o.forecasts, step)
	fmt.Fprintf(b.out, "%-12s %d MiB live after the newest collection, %d MiB resident\n", "memory", forewarm.LiveMiB(),
		end.Resident>>20)
	fmt.Fprintf(b.out, "%-12s %.0f queries a minute, %.2f s CPU a minute of prometheus\n", "source",
		(queries-before.queries)/minutes, (source.CPU-before.source.CPU).Seconds()/minutes)
	return nil
}

func since(t time.Time) string { return time.Since(t).Round(100 * time.Millisecond).String() }

// waitsFor is the first failing check.
func waitsFor(readyz string) string {
	for line := range strings.Lines(readyz) {
		if strings.HasPrefix(line, "[-]") {
			return strings.TrimSpace(line)
		}
	}
	return "no check fails"
}
