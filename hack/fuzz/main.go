// Command fuzz runs every fuzz target of the packages (default: ./...) for a while, one after the other, and prints a
// table of the results. Where one fails, it prints the path of the failing input and exits with code 1. Run it from the
// root of the repository:
//
//	go run ./hack/fuzz [-time 1m] [-target REGEXP] [-parallel N] [PACKAGE...]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

func main() {
	var c config
	flag.DurationVar(&c.time, "time", time.Minute, "how long each target runs")
	flag.StringVar(&c.target, "target", "^Fuzz", "regular expression of the targets to run")
	flag.IntVar(&c.parallel, "parallel", 0, "how many processes run a target; 0 means one for each core")
	flag.Parse()
	if c.packages = flag.Args(); len(c.packages) == 0 {
		c.packages = []string{"./..."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := c.run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

// config is the command line's.
type config struct {
	dir      string
	packages []string
	target   string
	time     time.Duration
	parallel int
}

// run runs the targets. An interrupt ends the running one; the table has the targets so far.
func (c *config) run(ctx context.Context, out io.Writer) error {
	targets, err := c.list(ctx)
	if err != nil {
		return err
	}
	var results []result
	failed := 0
	for i, t := range targets {
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(out, "%s %s (%d of %d)\n", t.pkg, t.name, i+1, len(targets))
		r := c.fuzz(ctx, t, out)
		if r.failed {
			failed++
		}
		results = append(results, r)
	}
	writeTable(out, results)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted after %d of %d targets", len(results), len(targets))
	case failed > 0:
		return fmt.Errorf("%d of %d targets failed", failed, len(targets))
	}
	return nil
}

// fuzz runs one target and passes on what go test prints.
func (c *config) fuzz(ctx context.Context, t target, out io.Writer) result {
	arguments := []string{
		"test", "-vet=off", "-run", "^$", "-fuzz", "^" + regexp.QuoteMeta(t.name) + "$", "-fuzztime", c.time.String(),
		"-fuzzminimizetime", "10s",
	}
	if c.parallel > 0 {
		arguments = append(arguments, "-parallel", strconv.Itoa(c.parallel))
	}
	r := result{target: t}
	command := c.command(ctx, append(arguments, t.pkg)...)
	lines := &lineWriter{each: func(line string) { r.read(line); fmt.Fprint(out, line) }}
	command.Stdout, command.Stderr = lines, lines
	begun := time.Now()
	r.failed = command.Run() != nil && ctx.Err() == nil
	lines.close()
	r.took = time.Since(begun).Round(time.Second)
	return r
}

// command is a go command that is interrupted, not killed, when the context ends.
func (c *config) command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = c.dir
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = time.Minute
	return command
}
