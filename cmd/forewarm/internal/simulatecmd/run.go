package simulatecmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/files"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/progress"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/terminal"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/manifest/strict"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/report"
)

// run is one run of the command. The report goes to out, words about the work to words.
type run struct {
	*options

	in         io.Reader
	out, words io.Writer
	now        func() time.Time
	bar        *progress.Bar
}

func (r run) run(ctx context.Context) error {
	c := r.config()
	// What is quick to find wrong comes before what takes its time.
	if err := errors.Join(r.readHPA(ctx, &c), r.pool.read(ctx, &c)); err != nil {
		return err
	}
	if err := r.measured.read(ctx, &c.Lead); err != nil {
		return interrupted(ctx, err)
	}
	c.Remarks = append(c.Remarks, r.pool.remarks(&c, r.measured.of)...)
	h, err := r.history.Read(ctx, r.in, r.now(), r.bar)
	if err != nil {
		return interrupted(ctx, err)
	}
	c.Demand, c.Source, c.Remarks = h.Series, h.Source, append(c.Remarks, h.Notes...)
	if c.Lead.Known == assumed {
		c.Remarks = append(c.Remarks, fmt.Sprintf("No lead time was given: %s is assumed. Give your own with "+
			"--lead-time, or the one that forewarm measures with --lead-time-of.", c.Lead.Median))
	}
	got, err := compare.Compare(ctx, c, r.progress(""))
	if err == nil {
		err = r.answer(ctx, &c, got)
	}
	r.bar.End()
	if err != nil {
		return interrupted(ctx, err)
	}
	if err := r.write(got); err != nil {
		return err
	}
	if got.Partial {
		return interrupted(ctx, errors.New("interrupted: what was played until then is shown"))
	}
	return nil
}

// interrupted gives the error of a run that was interrupted its exit code.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, err)
	}
	return err
}

// progress moves the bar by a unit of work.
func (r run) progress(on string) func(done, total int, what string) {
	return func(done, total int, what string) {
		what = "playing " + what + on
		if done == 1 {
			r.bar.Begin(what, total)
		}
		r.bar.Now(what)
		r.bar.Add(1)
	}
}

// answer plays the shapes of GPU that were given, and adds what was asked about sharing and spot.
func (r run) answer(ctx context.Context, c *compare.Config, to *compare.Comparison) error {
	asked, err := r.fleet.Parse(r.price)
	if err != nil {
		return err
	}
	for _, shape := range asked.Shapes {
		on := *c
		on.Pool = nil
		on.Capacity, on.GPUs, on.GPUPrice = shape.Capacity, shape.GPUs, shape.Price
		on.Only = []string{compare.BestTarget, compare.Forewarm}
		got, err := compare.Compare(ctx, on, r.progress(" on "+shape.Name))
		if ctx.Err() != nil {
			to.Partial = true
			break
		}
		if err != nil {
			return fmt.Errorf("shape %s: %w", shape.Name, err)
		}
		to.Shapes = append(to.Shapes, trials(shape, got)...)
	}
	return asked.Answer(to, max(c.Lead.Median, c.Lead.P90))
}

// readHPA reads the autoscaler.
func (r run) readHPA(ctx context.Context, c *compare.Config) error {
	text, err := files.Read(ctx, r.hpa, strict.MaxFile)
	if err != nil {
		return fmt.Errorf("the autoscaler: %w", err)
	}
	all, err := autoscaler.Read(r.hpa, text)
	if err != nil {
		return err
	}
	one, err := autoscaler.Named(all, r.name)
	if err != nil {
		return hinted(err, len(all) > 1 || r.name != "", "--hpa-name")
	}
	metric, err := one.On(r.metric)
	if err != nil {
		return hinted(err, len(one.Metrics) > 1 || r.metric != "", "--metric")
	}
	c.HPA = metric.Spec
	c.Autoscaler = one.By + ", " + metric.String() + ", in " + r.hpa
	if n := len(one.Metrics); n > 1 {
		c.Remarks = append(c.Remarks, fmt.Sprintf("%s scales on %d metrics, of which %s alone is played: the others "+
			"can only add replicas.", one.By, n, metric.Name))
	}
	return nil
}

// hinted names the flag by which a choice is made.
func hinted(err error, choice bool, flag string) error {
	if !choice {
		return err
	}
	return fmt.Errorf("%w (choose with %s NAME)", err, flag)
}

// writePage writes the page, where one is asked for.
func (r run) writePage(c *compare.Comparison) error {
	if r.html == "" {
		return nil
	}
	var text bytes.Buffer
	if err := report.HTML(&text, c); err != nil {
		return err
	}
	if err := files.Write(r.html, r.out, text.Bytes()); err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	return nil
}

// write tells the comparison, and as a page where that is asked for.
func (r run) write(c *compare.Comparison) error {
	// Where the page cannot be written, what was played for minutes is told all the same.
	failed := r.writePage(c)
	if r.html == files.Stdout {
		return failed
	}
	if r.json {
		return errors.Join(report.JSON(r.out, c), failed)
	}
	const page = 100
	width, _ := terminal.Columns(r.out, page)
	if err := errors.Join(report.Text(r.out, c, width), failed); err != nil {
		return err
	}
	if r.html != "" && !r.quiet {
		fmt.Fprintf(r.words, "%s has the same as a page, to open in a browser or to mail.\n", strings.TrimSpace(r.html))
	}
	return nil
}
