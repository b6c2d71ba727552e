package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/offline/accuracy"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/report"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/source/recorded"
)

// terminal has the streams of the command. The report goes to out, and progress and remarks go to messages.
type terminal struct {
	in            io.Reader
	out, messages io.Writer
	now           func() time.Time
	bar           *cmdline.ProgressBar
}

// config says what to simulate. The history, the autoscaler, the events and the pool have not been read yet.
type config struct {
	compare.Config

	asked      compare.Asked
	forecasts  bool // Whether the accuracy of the forecasts is judged.
	autoscaler autoscalerFile
	events     string // The name of a file.
	pool       poolFile
	leadOf     string // The Forecast from which the lead time comes; empty if there is none.
}

// run reads the input, simulates, and writes the report.
func run(ctx context.Context, o *options, t terminal) error {
	if o.fleet.file != "" {
		return runFleet(ctx, o, t)
	}
	c := o.config()
	// Errors that can be found quickly are reported before the slow work begins.
	if err := c.readFiles(ctx); err != nil {
		return err
	}
	if err := o.setQuery(&c.autoscaler); err != nil {
		return cmdline.UsageError(err)
	}
	if o.measured.of != "" {
		from, err := o.measured.Connect(ctx, "simulate")
		if err != nil {
			return fmt.Errorf("--lead-time-of %s: %w", o.measured.of, err)
		}
		if err := readMeasuredLead(ctx, from, o.measured.of, &c.Lead); err != nil {
			return cmdline.IfInterrupted(ctx, err)
		}
	}
	var scenarios []compare.Scenario
	if c.autoscaler.file != "" {
		var err error
		if scenarios, err = c.asked.Scenarios(c.Config); err != nil {
			return err
		}
	}
	h, err := history.Read(ctx, &o.history, t.in, t.now(), t.bar)
	if err != nil {
		return cmdline.IfInterrupted(ctx, o.withPresetHint(err))
	}
	c.take(&h)
	if c.autoscaler.file == "" {
		judged, failed := c.judgeForecasts(ctx, t.progress)
		t.bar.End()
		if failed != nil {
			return cmdline.IfInterrupted(ctx, failed)
		}
		judged.Notes = append(judged.Notes, c.Remarks...)
		return interrupted(ctx, judged.Partial, o.writeForecasts(t.out, &h, judged))
	}
	got, err := c.simulate(ctx, scenarios, t.progress)
	t.bar.End()
	if err != nil {
		return cmdline.IfInterrupted(ctx, err)
	}
	return interrupted(ctx, got.Partial, errors.Join(o.write(t, got), history.Doubtful(got.Doubt)))
}

// simulate compares the policies, and answers the additional questions.
func (c *config) simulate(
	ctx context.Context, scenarios []compare.Scenario, progress func(done, total int, what string),
) (*compare.Comparison, error) {
	got, err := compare.Compare(ctx, c.Config, progress)
	if err != nil {
		return nil, err
	}
	if got.Scenarios, err = compare.Play(ctx, c.Config, scenarios, progress); err != nil {
		return nil, err
	}
	if c.forecasts && ctx.Err() == nil {
		got.Forecasts, err = c.judgeForecasts(ctx, progress)
		if err != nil && ctx.Err() == nil {
			got.Notes = append(got.Notes, "The accuracy of forecasts is not shown: "+err.Error()+".")
		}
	}
	got.Partial = got.Partial || ctx.Err() != nil
	return got, nil
}

// judgeForecasts judges the accuracy of the forecasts.
func (c *config) judgeForecasts(
	ctx context.Context, progress func(done, total int, what string),
) (*accuracy.Result, error) {
	return accuracy.Run(ctx, accuracy.Config{Series: c.Demand, Lead: c.Lead.Median}, progress)
}

// interrupted returns the error of writing results, or an error that says that the results are incomplete.
func interrupted(ctx context.Context, partial bool, err error) error {
	if err == nil && partial {
		return cmdline.IfInterrupted(ctx, errors.New("interrupted: the results so far are shown"))
	}
	return err
}

// readFiles reads the autoscaler, the events and the pool, and reports every problem.
func (c *config) readFiles(ctx context.Context) error {
	var problems []error
	if c.autoscaler.file != "" {
		problems = append(problems, c.autoscaler.read(ctx, &c.Config))
	}
	return errors.Join(append(problems, readEvents(ctx, c.events, &c.Config), c.pool.read(ctx, &c.Config))...)
}

// take sets the history, and adds remarks about assumptions.
func (c *config) take(h *recorded.History) {
	c.Remarks = append(c.Remarks, doubleWait(&c.Config, c.leadOf)...)
	c.Demand, c.Source, c.TooShort, c.Doubt = h.Series, h.Source, h.TooShort(), h.Doubt
	c.Remarks = slices.Concat(c.Remarks, h.Notes, eventRemarks(c.events, &c.Config))
	if c.Lead.Known == assumed {
		c.Remarks = append(c.Remarks, fmt.Sprintf("No lead time was given, so the simulation uses %s. Set "+
			"--lead-time, or --lead-time-of to use the one that Forewarm measures.", c.Lead.Median))
	}
}

// progress advances the bar by a unit of work.
func (t *terminal) progress(done, total int, what string) {
	what = "simulating " + what
	if done == 1 {
		t.bar.Begin(what, total)
	}
	t.bar.SetTask(what)
	t.bar.Add(1)
}

// writePage writes the page, if requested.
func (o *options) writePage(out io.Writer, c *compare.Comparison) error {
	if o.html == "" {
		return nil
	}
	var text bytes.Buffer
	if err := report.HTML(&text, c); err != nil {
		return err
	}
	if err := cmdline.WriteFile(o.html, out, text.Bytes()); err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	return nil
}

// write writes the report, and the page if requested.
func (o *options) write(t terminal, c *compare.Comparison) error {
	// If the page cannot be written, the text is still printed: the simulation took minutes.
	failed := o.writePage(t.out, c)
	if o.html == cmdline.Stdout {
		return failed
	}
	if o.output.ForScripts() {
		return errors.Join(o.output.Write(t.out, report.JSON(c)), failed)
	}
	width, _ := cmdline.Columns(t.out, cmdline.Page)
	_, err := io.WriteString(t.out, report.Text(c, width))
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if o.html != "" && !o.quiet {
		fmt.Fprintf(t.messages, "%s has the same report as a page for a browser.\n", strings.TrimSpace(o.html))
	}
	return nil
}

// writeForecasts writes the accuracy of forecasts.
func (o *options) writeForecasts(out io.Writer, h *recorded.History, f *accuracy.Result) error {
	if o.output.ForScripts() {
		return errors.Join(o.output.Write(out, report.ForecastsJSON(f)), history.Doubtful(h.Doubt))
	}
	width, _ := cmdline.Columns(out, cmdline.Page)
	text := printable.Wrap("", h.Describe()+".", "", width)
	if h.Doubt != "" {
		text = printable.Wrap("", h.Doubt, "", width) + "\n" + text
	}
	_, err := io.WriteString(out, text+report.ForecastsText(f, width))
	return errors.Join(err, history.Doubtful(h.Doubt))
}
