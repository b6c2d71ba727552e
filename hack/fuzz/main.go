// Command fuzz runs every fuzz target of the packages (./... without any) for a while, one after the other, and prints a
// table of what each has done. Its exit code is 1 where one has failed; then it says where the failing input lies. It is
// run from the root of the repository:
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
	flag.DurationVar(&c.time, "time", time.Minute, "for how long each target is run")
	flag.StringVar(&c.target, "target", "^Fuzz", "regular expression of the targets that are run")
	flag.IntVar(&c.parallel, "parallel", 0, "how many processes run a target; 0 is one for each core")
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

// config is what is asked for.
type config struct {
	dir      string
	packages []string
	target   string
	time     time.Duration
	parallel int
}

// run runs the targets. An interrupt ends the one that runs, and the table is of those until then.
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

// fuzz runs one target and hands on what go test prints.
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

// command is a go command that an interrupt ends as go itself would.
func (c *config) command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = c.dir
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = time.Minute
	return command
}
