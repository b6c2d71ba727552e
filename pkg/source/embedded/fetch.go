package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	promconfig "github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery"
	_ "github.com/prometheus/prometheus/discovery/file" // Registers file_sd_configs.
	"github.com/prometheus/prometheus/promql"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
)

var _ refresh.LabelSource = (*Engine)(nil)

// Fetch evaluates the query on its grid. The answer is one series over the whole range with unchanged values, NaN for a
// gap; errors wrap the sentinels of package [series].
func (e *Engine) Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error) {
	if err := e.check(q); err != nil {
		return forecast.Series{}, err
	}
	var out forecast.Series
	err := e.evaluate(ctx, q, func(matrix promql.Matrix) (err error) {
		out, err = toGrid(q, matrix)
		return err
	})
	return out, err
}

// FetchByLabel implements [refresh.LabelSource].
func (e *Engine) FetchByLabel(ctx context.Context, q refresh.Query, label string) (map[string]float64, error) {
	q.From = q.To
	var out map[string]float64
	err := e.evaluate(ctx, q, func(matrix promql.Matrix) error {
		out = make(map[string]float64, len(matrix))
		for _, s := range matrix {
			if len(s.Floats) == 1 {
				out[s.Metric.Get(label)] = s.Floats[0].F
			}
		}
		return nil
	})
	return out, err
}

// evaluate evaluates a query, and calls read with the answer. The answer is valid only until read returns.
func (e *Engine) evaluate(ctx context.Context, q refresh.Query, read func(promql.Matrix) error) error {
	db, release, err := e.store.acquire()
	if err != nil {
		return fmt.Errorf("embedded engine: %w: %w", err, series.ErrUnavailable)
	}
	defer release()
	options := promql.NewPrometheusQueryOpts(false, e.lookback)
	prepared, err := e.promql.NewRangeQuery(ctx, db, options, q.Expr, q.From, q.To, q.Step)
	if err != nil {
		return fmt.Errorf("embedded engine: %w: %w", err, series.ErrQuery)
	}
	defer prepared.Close()
	result := prepared.Exec(ctx)
	if result.Err != nil {
		return e.explain(result.Err)
	}
	matrix, err := result.Matrix()
	if err != nil {
		return fmt.Errorf("embedded engine: %w: %w", err, series.ErrQuery)
	}
	return read(matrix)
}

// check rejects a query that is too long or whose grid the engine cannot express.
func (e *Engine) check(q refresh.Query) error {
	switch {
	case q.Step < time.Millisecond || q.Step%time.Millisecond != 0:
		return fmt.Errorf("embedded engine: a step of %v; expected whole milliseconds: %w", q.Step, series.ErrQuery)
	case q.To.Before(q.From):
		return fmt.Errorf(
			"embedded engine: the range ends at %v, before its start at %v: %w",
			q.To,
			q.From,
			series.ErrQuery,
		)
	case q.Points() > e.cfg.MaxPoints:
		return fmt.Errorf(
			"embedded engine: the query has %d points, and at most %d are allowed: %w: use a longer step or less history",
			q.Points(),
			e.cfg.MaxPoints,
			series.ErrTooLarge,
		)
	}
	return nil
}

// explain converts a failed evaluation to an error with a sentinel. An error that is neither a limit nor an error of the storage is an
// error in the query: operands that do not match one to one, or a function on the wrong type.
func (e *Engine) explain(err error) error {
	var (
		large    promql.ErrTooManySamples
		slow     promql.ErrQueryTimeout
		canceled promql.ErrQueryCanceled
		storage  promql.ErrStorage
	)
	switch {
	case errors.As(err, &large):
		return fmt.Errorf("embedded engine: %w (%d): %w: select fewer series, use a longer step or use less history",
			err, e.cfg.MaxSamples, series.ErrTooLarge)
	case errors.As(err, &slow):
		return fmt.Errorf("embedded engine: %w after %v: %w: simplify the query or use less history", err,
			e.cfg.QueryTimeout, series.ErrUnavailable)
	case errors.As(err, &canceled), errors.As(err, &storage):
		return fmt.Errorf("embedded engine: %w: %w", err, series.ErrUnavailable)
	default:
		return fmt.Errorf("embedded engine: %w: %w", err, series.ErrQuery)
	}
}

// toGrid converts the series of an answer to the query's grid.
func toGrid(q refresh.Query, matrix promql.Matrix) (forecast.Series, error) {
	switch {
	case len(matrix) == 0:
		return forecast.Series{}, fmt.Errorf("embedded engine: no data from %s to %s: %w: "+
			"check that the metric is scraped with these labels: %.400s",
			q.From.UTC().Format(time.RFC3339), q.To.UTC().Format(time.RFC3339), series.ErrNoSeries, q.Expr)
	case len(matrix) > 1:
		return forecast.Series{}, severalSeries(matrix)
	case len(matrix[0].Histograms) > 0:
		return forecast.Series{}, fmt.Errorf(
			"embedded engine: the query returns native histograms instead of numbers: "+
				"apply histogram_count(), histogram_sum() or histogram_quantile(): %w",
			series.ErrQuery,
		)
	}
	out := q.Gaps()
	start, step := q.From.UnixMilli(), q.Step.Milliseconds()
	for _, p := range matrix[0].Floats {
		out.Values[(p.T-start)/step] = series.Stored(p.F)
	}
	return out, nil
}

// severalSeries returns the error for several series. It lists up to three of them.
func severalSeries(matrix promql.Matrix) error {
	const show = 3
	names := make([]string, 0, show)
	for _, s := range matrix[:min(show, len(matrix))] {
		names = append(names, s.Metric.String())
	}
	if len(matrix) > show {
		names = append(names, fmt.Sprintf("and %d more", len(matrix)-show))
	}
	return fmt.Errorf("embedded engine: %s: %w: aggregate the query to its total with sum()",
		strings.Join(names, ", "), series.ErrSeveralSeries)
}

// lookback returns twice the longest scrape interval, so that one late scrape does not cause a gap.
func lookback(c *promconfig.Config) time.Duration {
	longest := minLookback
	for _, s := range c.ScrapeConfigs {
		longest = max(longest, 2*time.Duration(s.ScrapeInterval))
	}
	return longest
}

func discoveries(c *promconfig.Config) map[string]discovery.Configs {
	out := make(map[string]discovery.Configs, len(c.ScrapeConfigs))
	for _, s := range c.ScrapeConfigs {
		out[s.JobName] = s.ServiceDiscoveryConfigs
	}
	return out
}

// scrapeConfig reads the scrape file and applies the limits to its jobs; without a file there are no jobs.
func scrapeConfig(path string, logger *slog.Logger) (*promconfig.Config, error) {
	all, err := promconfig.Load("", logger)
	if err != nil {
		return nil, fmt.Errorf("empty scrape configuration: %w", err)
	}
	if path == "" {
		return all, nil
	}
	file, err := promconfig.LoadFile(path, false, logger)
	if err != nil {
		return nil, fmt.Errorf("scrape file %s: %w%s", path, err, discoveryAdvice(err))
	}
	if ignored := ignoredSections(file); len(ignored) > 0 {
		logger.Warn("sections of the scrape file are ignored", "file", path, "sections", strings.Join(ignored, ", "))
	}
	if all.ScrapeConfigs, err = file.GetScrapeConfigs(); err != nil {
		return nil, fmt.Errorf("scrape file %s: %w", path, err)
	}
	if err := applyLimits(all.ScrapeConfigs); err != nil {
		return nil, fmt.Errorf("scrape file %s: %w", path, err)
	}
	return all, nil
}

// ignoredSections lists the sections of a Prometheus configuration that this engine ignores.
func ignoredSections(c *promconfig.Config) []string {
	var out []string
	for name, there := range map[string]bool{
		"rule_files":   len(c.RuleFiles) > 0,
		"alerting":     len(c.AlertingConfig.AlertmanagerConfigs) > 0,
		"remote_write": len(c.RemoteWriteConfigs) > 0,
		"remote_read":  len(c.RemoteReadConfigs) > 0,
	} {
		if there {
			out = append(out, name)
		}
	}
	return out
}

// discoveryAdvice is the advice for a discovery that is not built in.
func discoveryAdvice(err error) string {
	if strings.Contains(err.Error(), "_sd_configs not found") {
		return " (only static_configs and file_sd_configs are supported; for other discovery, run a Prometheus server)"
	}
	return ""
}
