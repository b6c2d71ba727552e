// Command dashboards draws the dashboards as PNG, without Grafana: the results of their own queries, laid out as Grafana does.
// It needs chromium.
//
//	go run ./hack/dashboards                 two of them, over the project's own traces
//	go run ./hack/dashboards --metrics URL   the third, over ten minutes of a running Forewarm's /metrics
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/hack/dashboardtest"
	"github.com/forewarm/forewarm/pkg/chart"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dashboards:", err)
		os.Exit(1)
	}
}

// view is what is drawn of a dashboard.
type view struct {
	store    *dashboardtest.Store
	end      time.Time
	span     time.Duration
	interval time.Duration
	values   map[string][]string
}

func run(ctx context.Context) (err error) {
	out := pflag.String("out", "docs/images", "folder for the pictures")
	page := pflag.String("metrics", "", "the /metrics to scrape for the adapter's dashboard")
	span := pflag.Duration("for", 10*time.Minute, "how long to scrape it")
	pflag.Parse()
	all, err := dashboardtest.Load(".")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "dashboards-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := dashboardtest.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	views := map[string]view{}
	if *page != "" {
		end, err := scrape(ctx, store, *page, *span)
		if err != nil {
			return err
		}
		views["forewarm-adapter"] = view{store: store, end: end, span: *span, interval: scrapeInterval}
	} else {
		end, err := replay(ctx, store)
		if err != nil {
			return err
		}
		v := view{store: store, end: end, span: replayed, interval: time.Minute}
		views["forewarm-cost"] = v
		v.values = map[string][]string{"forecast": {"requests"}}
		views["forewarm-right"] = v
	}
	for _, d := range all {
		if v, ok := views[d.UID]; ok {
			if err := write(ctx, d, v, *out); err != nil {
				return err
			}
		}
	}
	return nil
}

// write draws a dashboard with the chosen values, or the first ones.
func write(ctx context.Context, d *dashboardtest.Dashboard, v view, out string) error {
	choice := dashboardtest.Choice{Values: map[string][]string{}, Range: v.span, RateInterval: 4 * v.interval}
	for i := range d.Templating.List {
		variable := &d.Templating.List[i]
		if variable.Type == "datasource" {
			continue
		}
		options, err := d.Options(ctx, variable, v.store, choice, v.end)
		if err != nil {
			return err
		}
		switch {
		case v.values[variable.Name] != nil:
			choice.Values[variable.Name] = v.values[variable.Name]
		case variable.IncludeAll:
			choice.Values[variable.Name] = []string{dashboardtest.All}
		case len(options) > 0:
			choice.Values[variable.Name] = options[:1]
		}
	}
	sheet, err := draw(ctx, d, v, choice)
	if err != nil {
		return err
	}
	return screenshot(ctx, sheet, filepath.Join(out, strings.Replace(d.UID, "forewarm-", "dashboard-", 1)+".png"))
}

// screenshot writes a sheet as PNG.
func screenshot(ctx context.Context, sheet *chart.Sheet, out string) error {
	picture, err := sheet.SVG()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "draw-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A temporary folder.
	file := filepath.Join(dir, "sheet.svg")
	if err := os.WriteFile(file, picture, 0o600); err != nil {
		return err
	}
	chromium := exec.CommandContext(
		ctx,
		"chromium",
		"--headless",
		"--no-sandbox",
		"--disable-gpu",
		"--hide-scrollbars", //nolint:gosec // Ours.
		fmt.Sprintf("--window-size=%.0f,%.0f", sheet.Width, sheet.Height),
		"--screenshot="+out,
		"file://"+file,
	)
	if text, err := chromium.CombinedOutput(); err != nil {
		return fmt.Errorf("chromium: %w: %s", err, text)
	}
	return nil
}
