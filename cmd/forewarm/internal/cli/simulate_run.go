package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/report"
)

// run is one run of the command. The report goes to out, words about the work to words.
type run struct {
	*simulateOptions

	in            io.Reader
	out, messages io.Writer
	now           func() time.Time
	bar           *cmdline.ProgressBar
}

func (r run) run(ctx context.Context) error {
	c := r.config()
	// What is quick to find wrong comes before what takes its time.
	if err := errors.Join(r.readHPA(ctx, &c), r.readEvents(ctx, &c), r.pool.read(ctx, &c)); err != nil {
		return err
	}
	if err := r.measured.read(ctx, &c.Lead); err != nil {
		return cmdline.IfInterrupted(ctx, err)
	}
	c.Remarks = append(c.Remarks, r.pool.remarks(&c, r.measured.of)...)
	h, err := r.history.Read(ctx, r.in, r.now(), r.bar)
	if err != nil {
		return cmdline.IfInterrupted(ctx, err)
	}
	c.Demand, c.Source, c.Remarks, c.TooShort = h.Series, h.Source, append(c.Remarks, h.Notes...), h.TooShort()
	c.Remarks = append(c.Remarks, r.eventRemarks(&c)...)
	if c.Lead.Known == assumed {
		c.Remarks = append(c.Remarks, fmt.Sprintf("No lead time was given: %s is assumed. Set --lead-time, or "+
			"--lead-time-of to use the one that Forewarm measures.", c.Lead.Median))
	}
	if r.hpa == "" {
		return r.forecastsAlone(ctx, &h, &c)
	}
	got, err := compare.Compare(ctx, c, r.progress)
	if err == nil {
		err = r.answer(ctx, &c, got)
	}
	r.bar.End()
	if err != nil {
		return cmdline.IfInterrupted(ctx, err)
	}
	if err := r.write(got); err != nil {
		return err
	}
	if got.Partial {
		return cmdline.IfInterrupted(ctx, errors.New("interrupted: the results so far are shown"))
	}
	return nil
}

// readEvents reads what is known of the demand beforehand.
func (r run) readEvents(ctx context.Context, c *compare.Config) error {
	if r.events == "" {
		return nil
	}
	text, err := cmdline.ReadFile(ctx, r.events, manifest.MaxFile)
	if err != nil {
		return fmt.Errorf("the events: %w", err)
	}
	specs, err := manifest.ReadEvents(r.events, text)
	c.Events = calendar.Of(specs)
	return err
}

// eventRemarks says how many occurrences of events the history has.
func (r run) eventRemarks(c *compare.Config) []string {
	if c.Events == nil {
		return nil
	}
	from, to := c.Demand.Start, c.Demand.End()
	n := len(c.Events(from, to))
	if n == 0 {
		const text = "No event of %s is within the history, %s to %s: they change nothing."
		return []string{fmt.Sprintf(text, r.events, from.Format(time.DateOnly), to.Format(time.DateOnly))}
	}
	return []string{fmt.Sprintf("Forewarm knows %s of %s beforehand.", humanize.Plural(n, "occurrence"), r.events)}
}

// progress moves the bar by a unit of work.
func (r run) progress(done, total int, what string) {
	what = "simulating " + what
	if done == 1 {
		r.bar.Begin(what, total)
	}
	r.bar.SetTask(what)
	r.bar.Add(1)
}

// answer simulates what was requested in addition to the policies.
func (r run) answer(ctx context.Context, c *compare.Config, to *compare.Comparison) (err error) {
	if r.whatIf {
		if to.WhatIfs, err = compare.WhatIfs(ctx, *c, r.progress); err != nil {
			return err
		}
	}
	if len(r.shapes) > 0 {
		if to.Shapes, err = compare.Shapes(ctx, *c, r.shapes, r.progress); err != nil {
			return err
		}
	}
	err = errors.Join(r.wakes(ctx, c, to), r.variantsTogether(ctx, c, to))
	r.judgeForecasts(ctx, c, to)
	to.Partial = to.Partial || ctx.Err() != nil
	if to.Partial {
		return nil // An answer that was interrupted is left out.
	}
	return err
}

// wakes simulates servers that sleep.
func (r run) wakes(ctx context.Context, c *compare.Config, to *compare.Comparison) error {
	if r.wake.Time == 0 {
		return nil
	}
	got, err := compare.Wakes(ctx, *c, r.wake, r.progress)
	if err != nil {
		return fmt.Errorf("--wake-time: %w", err)
	}
	to.Wakes = got
	return nil
}

// variantsTogether simulates other workloads that serve the demand, too.
func (r run) variantsTogether(ctx context.Context, c *compare.Config, to *compare.Comparison) error {
	if len(r.variants) == 0 {
		return nil
	}
	got, err := compare.Variants(ctx, *c, r.variants, r.progress)
	if err == nil {
		to.Variants = got
	}
	return err
}

// readHPA reads the autoscaler. There is none where the forecasts are judged alone.
func (r run) readHPA(ctx context.Context, c *compare.Config) error {
	if r.hpa == "" {
		return nil
	}
	text, err := cmdline.ReadFile(ctx, r.hpa, manifest.MaxFile)
	if err != nil {
		return fmt.Errorf("the autoscaler: %w", err)
	}
	all, err := autoscaler.Read(r.hpa, text)
	if err != nil {
		return err
	}
	one, err := autoscaler.FindManifest(all, r.name)
	if err != nil {
		return withFlagHint(err, len(all) > 1 || r.name != "", "--hpa-name")
	}
	metric, err := one.SelectMetric(r.metric)
	if err != nil {
		return withFlagHint(err, len(one.Metrics) > 1 || r.metric != "", "--metric")
	}
	c.HPA = metric.Spec
	c.Autoscaler = one.Ref + ", " + metric.String() + ", in " + r.hpa
	if n := len(one.Metrics); n > 1 {
		c.Remarks = append(
			c.Remarks,
			fmt.Sprintf("%s scales on %d metrics; only %s is simulated. The others can only add "+
				"replicas.", one.Ref, n, metric.Name),
		)
	}
	return nil
}

// withFlagHint names the flag by which a choice is made.
func withFlagHint(err error, choice bool, flag string) error {
	if !choice {
		return err
	}
	return fmt.Errorf("%w (choose with %s NAME)", err, flag)
}

// writePage writes the page, if requested.
func (r run) writePage(c *compare.Comparison) error {
	if r.html == "" {
		return nil
	}
	var text bytes.Buffer
	if err := report.HTML(&text, c); err != nil {
		return err
	}
	if err := cmdline.WriteFile(r.html, r.out, text.Bytes()); err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	return nil
}

// write writes the report, and the page if requested.
func (r run) write(c *compare.Comparison) error {
	// If the page cannot be written, the text is still printed: the simulation took minutes.
	failed := r.writePage(c)
	if r.html == cmdline.Stdout {
		return failed
	}
	if r.output.ForScripts() {
		var text bytes.Buffer
		return errors.Join(report.JSON(&text, c), r.output.Write(r.out, json.RawMessage(text.Bytes())), failed)
	}
	width, _ := cmdline.Columns(r.out, cmdline.Page)
	if err := errors.Join(report.Text(r.out, c, width), failed); err != nil {
		return err
	}
	if r.html != "" && !r.quiet {
		fmt.Fprintf(r.messages, "%s has the same report as a page for a browser.\n", strings.TrimSpace(r.html))
	}
	return nil
}
