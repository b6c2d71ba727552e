package dashboardtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/tsdb"
)

// Store is Prometheus' storage and query engine, with the options of the embedded engine.
type Store struct {
	db     *tsdb.DB
	engine *promql.Engine
}

// Open opens a storage in a folder.
func Open(dir string) (*Store, error) {
	options := tsdb.DefaultOptions()
	options.RetentionDuration = math.MaxInt64 / 2
	db, err := tsdb.Open(dir, slog.New(slog.DiscardHandler), nil, options, nil)
	if err != nil {
		return nil, err
	}
	return &Store{db: db, engine: promql.NewEngine(promql.EngineOpts{
		Logger:           slog.New(slog.DiscardHandler),
		MaxSamples:       50_000_000,
		Timeout:          time.Minute,
		LookbackDelta:    5 * time.Minute,
		EnableAtModifier: true,
		Parser:           parser.NewParser(parser.Options{}),
	})}, nil
}

// Close closes the storage.
func (s *Store) Close() error { return errors.Join(s.engine.Close(), s.db.Close()) }

// Target are the labels that a scrape adds. A label of the metric itself wins, as with honorLabels.
type Target map[string]string

// Samples are the samples of metric families.
func Samples(families []*dto.MetricFamily) (model.Vector, error) {
	return expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: model.Now()}, families...)
}

// Append stores samples as scraped from a target at a time.
func (s *Store) Append(ctx context.Context, at time.Time, target Target, samples model.Vector) error {
	appender := s.db.Appender(ctx)
	builder := labels.NewBuilder(labels.EmptyLabels())
	for _, sample := range samples {
		builder.Reset(labels.EmptyLabels())
		for name, value := range target {
			builder.Set(name, value)
		}
		for name, value := range sample.Metric {
			builder.Set(string(name), string(value))
		}
		if _, err := appender.Append(0, builder.Labels(), at.UnixMilli(), float64(sample.Value)); err != nil {
			return errors.Join(fmt.Errorf("store %s: %w", sample.Metric, err), appender.Rollback())
		}
	}
	return appender.Commit()
}

// Instant evaluates an expression at a time.
func (s *Store) Instant(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
	query, err := s.engine.NewInstantQuery(ctx, s.db, nil, expr, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	defer query.Close()
	result := query.Exec(ctx)
	if result.Err != nil {
		return nil, fmt.Errorf("%s: %w", expr, result.Err)
	}
	if scalar, ok := result.Value.(promql.Scalar); ok {
		return promql.Vector{{T: scalar.T, F: scalar.V}}, nil
	}
	vector, err := result.Vector()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	return append(promql.Vector{}, vector...), nil
}

// Series is a series of an answer; Values are NaN where there is none.
type Series struct {
	Labels map[string]string
	Values []float64
}

// Range evaluates an expression from a time on, at each step, in whole milliseconds.
func (s *Store) Range(
	ctx context.Context, expr string, from time.Time, step time.Duration, points int,
) ([]Series, error) {
	from, step = from.Truncate(time.Millisecond), step.Truncate(time.Millisecond)
	to := from.Add(step * time.Duration(points-1))
	query, err := s.engine.NewRangeQuery(ctx, s.db, nil, expr, from, to, step)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	defer query.Close()
	result := query.Exec(ctx)
	matrix, err := result.Matrix()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	var out []Series
	for _, found := range matrix {
		series := Series{Labels: found.Metric.Map(), Values: make([]float64, points)}
		for i := range series.Values {
			series.Values[i] = math.NaN()
		}
		for _, p := range found.Floats {
			series.Values[(p.T-from.UnixMilli())/step.Milliseconds()] = p.F
		}
		out = append(out, series)
	}
	return out, nil
}
