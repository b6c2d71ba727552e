package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
)

// contextSteps is how many steps are shown before and after the first difference.
const contextSteps = 4

// diff shows where this revision and another one begin to serve different values.
func diff(ctx context.Context, o options, out, progress io.Writer) (err error) {
	if o.against == "" {
		return errors.New("diff: want a revision to compare with: diff --against REV [NAME]")
	}
	_, chosen, err := plays(o, progress)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "served-")
	if err != nil {
		return err
	}
	// Git's own record of the worktree goes with it, also after an interrupt.
	defer func() { err = errors.Join(err, removeWorktree(context.WithoutCancel(ctx), folder)) }()
	command, err := buildAt(ctx, folder, o.against)
	if err != nil {
		return err
	}
	differ := 0
	for i, p := range chosen {
		fmt.Fprintf(progress, "%d of %d: %s\n", i+1, len(chosen), p)
		differs, err := p.diff(ctx, command, o, out)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if differs {
			differ++
		}
	}
	fmt.Fprintf(out, "%d of %d plays differ from %s\n", differ, len(chosen), o.against)
	return nil
}

// buildAt builds the command of another revision in a worktree of it.
func buildAt(ctx context.Context, folder, revision string) (string, error) {
	tree := filepath.Join(folder, "tree")
	if err := runQuietly(exec.CommandContext(ctx, "git", "worktree", "add", "--detach", tree, revision)); err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(tree, "hack", "served", "main.go")); err != nil {
		return "", fmt.Errorf("%s has no hack/served to play it with: compare with a revision that has it, "+
			"or with a branch of %s onto which it is cherry-picked", revision, revision)
	}
	command := filepath.Join(folder, "served")
	build := exec.CommandContext(ctx, "go", "build", "-o", command, "./hack/served")
	build.Dir, build.Env = tree, append(os.Environ(), "CGO_ENABLED=0")
	return command, runQuietly(build)
}

func removeWorktree(ctx context.Context, folder string) error {
	remove := runQuietly(
		exec.CommandContext(ctx, "git", "worktree", "remove", "--force", filepath.Join(folder, "tree")),
	)
	if _, err := os.Stat(filepath.Join(folder, "tree")); err != nil {
		remove = nil // It was never made.
	}
	return errors.Join(remove, os.RemoveAll(folder))
}

// runQuietly runs a command whose output is of interest where it fails.
func runQuietly(c *exec.Cmd) error {
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, bytes.TrimSpace(text))
	}
	return nil
}

// diff plays by this revision and by another one's command, up to a few steps after the first difference.
func (p play) diff(ctx context.Context, command string, o options, out io.Writer) (bool, error) {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	other := exec.CommandContext(ctx, command, "print", "--days", strconv.Itoa(o.days), "--data", o.data, p.String())
	var complaint bytes.Buffer
	other.Stderr = &complaint
	lines, err := other.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err = other.Start(); err != nil {
		return false, err
	}
	var problems [2]error
	before := func(yield func(step) bool) { problems[0] = readSteps(lines, yield) }
	now := func(yield func(step) bool) { problems[1] = p.steps(ctx, o.length(), yield) }
	found := firstDifference(before, now)
	if err = errors.Join(problems[:]...); err != nil {
		return false, err
	}
	if n := len(found); n > 0 && !found[n-1].before.at.IsZero() {
		enough()         // It has more to say, or has ended: either will do.
		_ = other.Wait() //nolint:errcheck // It was killed.
		return true, show(out, p.String(), o.against, found)
	}
	if err = other.Wait(); err != nil {
		return false, fmt.Errorf("%s: %w: %s", o.against, err, bytes.TrimSpace(complaint.Bytes()))
	}
	return len(found) > 0, show(out, p.String(), o.against, found)
}

// readSteps reads what printSteps wrote.
func readSteps(from io.Reader, each func(step) bool) error {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		s, err := parseStep(lines.Text())
		if err != nil {
			return err
		}
		if !each(s) {
			return nil
		}
	}
	return lines.Err()
}

// pair is a step of both revisions; one that has ended has no time.
type pair struct{ before, now step }

// differs says that the records would differ: in time, or in nine digits of a value.
func (p pair) differs() bool {
	return !p.before.at.Equal(p.now.at) || nineDigits(p.before.served) != nineDigits(p.now.served)
}

// firstDifference is the first pair that differs, with some before and after it; nil where there is none.
func firstDifference(before, now iter.Seq[step]) []pair {
	nextBefore, stopBefore := iter.Pull(before)
	defer stopBefore()
	nextNow, stopNow := iter.Pull(now)
	defer stopNow()
	var shown []pair
	for left := -1; left != 0; {
		var p pair
		var was, is bool
		p.before, was = nextBefore()
		p.now, is = nextNow()
		switch {
		case !was && !is && left < 0:
			return nil
		case !was && !is:
			return shown
		case left > 0:
			left--
		case p.differs():
			left = contextSteps
		case len(shown) == contextSteps:
			shown = shown[1:]
		}
		shown = append(shown, p)
	}
	return shown
}

// show writes a table of the pairs, where there are any.
func show(out io.Writer, name, against string, pairs []pair) error {
	if len(pairs) == 0 {
		return nil
	}
	fmt.Fprintf(out, "%s: the first difference:\n", name)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "time\tobserved\tserved by %s\tserved now\t\t\n", against)
	for _, p := range pairs {
		mark := ""
		if p.differs() {
			mark = "differs"
		}
		at := p.now.at
		if at.IsZero() {
			at, mark = p.before.at, "this revision has ended"
		} else if !p.before.at.Equal(at) {
			mark = "the other revision has not this step"
		}
		observed := nineDigits(p.now.observed)
		if was := nineDigits(p.before.observed); was != observed {
			observed = was + " → " + observed
		}
		fmt.Fprintf(
			table,
			"%s\t%s\t%s\t%s\t%s\t\n",
			at.UTC().
				Format("2006-01-02 15:04:05"),
			observed,
			nineDigits(p.before.served),
			nineDigits(p.now.served),
			mark,
		)
	}
	return table.Flush()
}
