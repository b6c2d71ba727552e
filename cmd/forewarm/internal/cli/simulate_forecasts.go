package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/offline/accuracy"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/report"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/source/recorded"
)

// newBacktest is the former command "backtest", which says what has replaced it.
func newBacktest() *cobra.Command {
	return &cobra.Command{
		Use:                "backtest",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("backtest is gone: forewarm simulate --forecasts shows the accuracy of forecasts")
		},
	}
}

const noAutoscaler = "no autoscaler is given: set --hpa FILE; kubectl get hpa NAME -o yaml prints one"

// validateAlone refuses the flags that need an autoscaler where the forecasts are judged without one.
func (o *simulateOptions) validateAlone(flags *pflag.FlagSet) error {
	if !o.forecasts || o.hpa != "" {
		return nil
	}
	alone, of := pflag.NewFlagSet("alone", pflag.ContinueOnError), simulateDefaults()
	of.history.AddFlags(alone)
	of.measured.AddFlags(alone)
	of.output.AddFlags(alone, "")
	var others []string
	flags.Visit(func(f *pflag.Flag) {
		more := []string{"forecasts", "lead-time", "lead-time-of", "quiet"}
		if alone.Lookup(f.Name) == nil && !slices.Contains(more, f.Name) {
			others = append(others, "--"+f.Name)
		}
	})
	if others == nil {
		return nil
	}
	return fmt.Errorf("%s: %s", strings.Join(others, ", "), noAutoscaler)
}

// judgeForecasts adds the accuracy of forecasts to a comparison, or why there is none.
func (r run) judgeForecasts(ctx context.Context, c *compare.Config, to *compare.Comparison) {
	if !r.forecasts || ctx.Err() != nil {
		return
	}
	got, err := accuracy.Run(ctx, accuracy.Config{Series: c.Demand, Lead: c.Lead.Median}, r.progress)
	if err != nil && ctx.Err() == nil {
		to.Notes = append(to.Notes, "The accuracy of forecasts is not shown: "+err.Error()+".")
	}
	to.Forecasts = got
}

// forecastsAlone reports the accuracy of forecasts without a comparison.
func (r run) forecastsAlone(ctx context.Context, h *recorded.History, c *compare.Config) error {
	got, err := accuracy.Run(ctx, accuracy.Config{Series: c.Demand, Lead: c.Lead.Median}, r.progress)
	r.bar.End()
	if err != nil {
		return cmdline.IfInterrupted(ctx, err)
	}
	got.Notes = append(got.Notes, c.Remarks...)
	if err := r.writeForecasts(h, got); err != nil {
		return err
	}
	if got.Partial {
		return cmdline.IfInterrupted(ctx, errors.New("interrupted: the results so far are shown"))
	}
	return nil
}

// writeForecasts writes the accuracy of forecasts.
func (r run) writeForecasts(h *recorded.History, f *accuracy.Result) error {
	if r.output.ForScripts() {
		var text bytes.Buffer
		return errors.Join(report.ForecastsJSON(&text, f), r.output.Write(r.out, json.RawMessage(text.Bytes())))
	}
	width, _ := cmdline.Columns(r.out, cmdline.Page)
	_, err := io.WriteString(r.out, printable.Wrap("", h.Describe()+".", "", width))
	return errors.Join(err, report.ForecastsText(r.out, f, width))
}
