package prometheus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// maxPoints limits the number of points per request, because Prometheus rejects more than 11,000.
const maxPoints = 10_000

// Source fetches history from one server. It is safe for concurrent use.
type Source struct {
	api   v1.API
	cfg   Config
	name  string
	close func()

	splits splits
	sizes  sizes
	// probes counts the queries of batches that were sent on their own.
	probes atomic.Uint64
	// withoutNative is true if the server's language has no functions for native histograms.
	withoutNative atomic.Bool
}

var _ refresh.LabelSource = (*Source)(nil)

// New returns a source. It does not connect: Fetch returns the error of a server that is down.
func New(cfg Config) (*Source, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	client, auth, err := cfg.client()
	if err != nil {
		return nil, err
	}
	cfg.auth = auth
	s := &Source{api: v1.NewAPI(wholeAnswers{client}), cfg: cfg, name: RedactedURL(cfg.URL), close: func() {}}
	if cfg.Hidden {
		s.name = "the source of history"
	}
	if c, ok := client.(api.CloseIdler); ok {
		s.close = c.CloseIdleConnections
	}
	return s, nil
}

// Close closes the connections that are kept open.
func (s *Source) Close() { s.close() }

// Fetch evaluates the query on its grid. The answer is one series over the whole range with unchanged values, NaN for a
// gap; errors wrap the sentinels of package [series].
func (s *Source) Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error) {
	return s.FetchInPieces(ctx, q, maxPoints, func(int) {})
}

// FetchInPieces is Fetch with size points per request, 1 to 10,000: smaller requests are easier for a slow server.
// After each request it calls progress with its number of points.
func (s *Source) FetchInPieces(
	ctx context.Context, q refresh.Query, size int, progress func(points int),
) (forecast.Series, error) {
	if err := s.check(q); err != nil {
		return forecast.Series{}, err
	}
	out := q.Gaps()
	var seen *model.SampleStream
	size = min(max(size, 1), maxPoints)
	for from := 0; from < out.Len(); from += size {
		piece := out.Slice(from, min(from+size, out.Len()))
		var err error
		if seen, err = s.fetchPiece(ctx, q, piece, seen); err != nil {
			return forecast.Series{}, err
		}
		progress(piece.Len())
	}
	if seen == nil {
		return forecast.Series{}, s.noSeries(q)
	}
	return out, nil
}

// noSeries shows the query because a tenant's query is confined to its namespace, where the series may be missing.
func (s *Source) noSeries(q refresh.Query) error {
	return fmt.Errorf("%s: no data from %s to %s: %w: check that the metric exists with these labels: %.400s",
		s.name, q.From.UTC().Format(time.RFC3339), q.To.UTC().Format(time.RFC3339), series.ErrNoSeries, q.Expr)
}

// fetchPiece fills a piece of the range. It returns the series of the piece, or that of the previous pieces. All pieces must have the same
// series.
func (s *Source) fetchPiece(
	ctx context.Context, q refresh.Query, piece forecast.Series, seen *model.SampleStream,
) (*model.SampleStream, error) {
	matrix, err := s.request(ctx, q, piece, 1)
	switch {
	case err != nil:
		return nil, err
	case len(matrix) > 1: // This includes series with the same labels, which a store that merges other stores may return.
		return nil, s.severalSeries(matrix)
	case len(matrix) == 0:
		return seen, nil
	case seen != nil && !seen.Metric.Equal(matrix[0].Metric):
		return nil, s.severalSeries(model.Matrix{seen, matrix[0]})
	}
	return matrix[0], s.fillGrid(piece, matrix[0])
}

var _ refresh.Clocked = (*Source)(nil)

// SourceClock implements [refresh.Clocked].
func (s *Source) SourceClock(ctx context.Context, _ string, _ refresh.SourceRef) (time.Time, error) {
	return s.Clock(ctx)
}

// Clock returns the time by the server's own clock.
func (s *Source) Clock(ctx context.Context) (time.Time, error) {
	// A query without a time is evaluated at the server's present time.
	value, err := s.instant(ctx, "time()", time.Time{})
	if err != nil {
		return time.Time{}, err
	}
	// The time of the answer is the time of the server's clock. VictoriaMetrics answers with a vector whose value is 30 s earlier
	// (-search.latencyOffset).
	switch answer := value.(type) {
	case *model.Scalar:
		if answer != nil {
			return answer.Timestamp.Time(), nil
		}
	case model.Vector:
		if len(answer) == 1 && answer[0] != nil {
			return answer[0].Timestamp.Time(), nil
		}
	}
	return time.Time{}, s.unavailable("the response to time() is a %T; expected a number", value)
}

// LabelValues returns the values of a label in the instant answer to an expression, sorted; at most 10.
func (s *Source) LabelValues(ctx context.Context, expr, label string, at time.Time) ([]string, error) {
	const most = 10
	vector, err := s.vector(ctx, expr, at, v1.WithLimit(most))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, sample := range vector[:min(most, len(vector))] {
		out = append(out, string(sample.Metric[model.LabelName(label)]))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// FetchByLabel implements [refresh.LabelSource], for answers within the limit of those that are no range.
func (s *Source) FetchByLabel(ctx context.Context, q refresh.Query, label string) (map[string]float64, error) {
	vector, err := s.vector(ctx, q.Expr, q.To, s.lookback()...)
	if err != nil {
		return nil, err
	}
	out := make(map[string]float64, len(vector))
	for _, sample := range vector {
		out[string(sample.Metric[model.LabelName(label)])] = float64(sample.Value)
	}
	return out, nil
}

// lookback is the option of a request for the configured lookback, if there is one.
func (s *Source) lookback() []v1.Option {
	if s.cfg.Lookback == 0 {
		return nil
	}
	return []v1.Option{v1.WithLookbackDelta(s.cfg.Lookback)}
}

// vector evaluates an expression at one time. The value must be a vector.
func (s *Source) vector(ctx context.Context, expr string, at time.Time, options ...v1.Option) (model.Vector, error) {
	value, err := s.instant(ctx, expr, at, options...)
	if err != nil {
		return nil, err
	}
	vector, ok := value.(model.Vector)
	if !ok {
		return nil, s.unavailable("the response is a %T; expected a vector", value)
	}
	return vector, nil
}

// instant evaluates an expression at one time.
//
//nolint:ireturn // The API's type.
func (s *Source) instant(ctx context.Context, expr string, at time.Time, options ...v1.Option) (model.Value, error) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	var value model.Value
	err := s.inDialect(ctx, expr, func(expr string) (err error) {
		value, _, _, err = s.api.Query(limited, expr, at, append(options, v1.WithTimeout(s.cfg.Timeout))...)
		return err
	})
	return value, err
}

// inDialect sends an expression, and explains its error. MetricsQL, the language of VictoriaMetrics, has no function for the count of a
// native histogram. If a query is rejected with this function and accepted without it, the function is left out from then on.
func (s *Source) inDialect(ctx context.Context, expr string, ask func(expr string) error) error {
	if s.withoutNative.Load() {
		expr = promexpr.WithoutNative(expr)
	}
	err := ask(expr)
	if err == nil {
		return nil
	}
	explained, plain := s.explain(ctx, err), promexpr.WithoutNative(expr)
	if plain != expr && errors.Is(explained, series.ErrQuery) && ask(plain) == nil {
		s.withoutNative.Store(true)
		return nil
	}
	return explained
}

// check rejects a query that is too long or whose grid the API cannot express.
func (s *Source) check(q refresh.Query) error {
	switch {
	case q.Step < time.Millisecond || q.Step%time.Millisecond != 0:
		return fmt.Errorf("%s: a step of %v; expected whole milliseconds: %w", s.name, q.Step, series.ErrQuery)
	case q.To.Before(q.From):
		return fmt.Errorf("%s: the range ends at %v, before its start at %v: %w", s.name, q.To, q.From, series.ErrQuery)
	case q.Points() > s.cfg.MaxPoints:
		return fmt.Errorf(
			"%s: the query has %d points, and at most %d are allowed: %w: use a longer step or less history",
			s.name,
			q.Points(),
			s.cfg.MaxPoints,
			series.ErrTooLarge,
		)
	}
	return nil
}

// request fetches one piece with an expected number of series. A limit prevents a query without sum() from returning thousands of series.
// Some servers ignore the limit; the additional series are not read.
func (s *Source) request(
	ctx context.Context, q refresh.Query, piece forecast.Series, wanted int,
) (model.Matrix, error) {
	within := context.WithValue(ctx, expected{}, expected{points: piece.Len(), series: wanted})
	limited, cancel := context.WithTimeout(within, s.cfg.Timeout)
	defer cancel()
	options := append(s.lookback(), v1.WithTimeout(s.cfg.Timeout), v1.WithLimit(uint64(keptSeries(wanted))+1))
	var value model.Value
	var warnings v1.Warnings
	err := s.inDialect(ctx, q.Expr, func(expr string) (err error) {
		value, warnings, _, err = s.api.QueryRange(limited, expr,
			v1.Range{Start: piece.Start, End: piece.TimeAt(piece.Len() - 1), Step: piece.Step}, options...)
		return err
	})
	if err != nil {
		return nil, err
	}
	matrix, ok := value.(model.Matrix)
	if !ok || slices.Contains(matrix, nil) {
		return nil, s.unavailable("the response is a %T; expected a matrix of series", value)
	}
	if wanted > 1 {
		return matrix, s.checkComplete(warnings)
	}
	for _, stream := range matrix {
		if wrong := mislabeled(q.Expr, stream.Metric); wrong != "" {
			return nil, s.unavailable(
				"the response contains data that the query does not select (%s): check the tenant header, "+
					"and any proxies or caches between Forewarm and the server",
				s.clip(wrong),
			)
		}
	}
	if len(matrix) > 1 { // Several series have their own error.
		return matrix, nil
	}
	return matrix, s.checkComplete(warnings)
}

// checkComplete rejects an answer with a warning that a part failed, because its total would be too low. Warnings about the query itself
// ("PromQL warning: …") apply to every answer, and are for the author of the query.
func (s *Source) checkComplete(warnings v1.Warnings) error {
	for _, w := range warnings {
		if !strings.HasPrefix(w, "PromQL ") {
			return s.unavailable("the response may be incomplete (%s): check the stores behind the server", s.clip(w))
		}
	}
	return nil
}

var errHistogram = errors.New("the query returns native histograms instead of numbers: apply histogram_count(), " +
	"histogram_sum() or histogram_quantile()")

// fillGrid writes the samples to the grid. A time that is out of order or not on the grid is an error.
func (s *Source) fillGrid(piece forecast.Series, stream *model.SampleStream) error {
	if len(stream.Histograms) > 0 {
		return fmt.Errorf("%s: %w: %w", s.name, errHistogram, series.ErrQuery)
	}
	start, step, previous := piece.Start.UnixMilli(), piece.Step.Milliseconds(), int64(-1)
	for _, sample := range stream.Values {
		offset := int64(sample.Timestamp) - start
		i := offset / step
		if offset%step != 0 || i <= previous || i >= int64(piece.Len()) {
			return s.unavailable("the response has a sample at %s, which is not one of the times of the query",
				sample.Timestamp.Time().UTC().Format(time.RFC3339Nano))
		}
		piece.Values[i], previous = series.Stored(float64(sample.Value)), i
	}
	return nil
}
