package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// pointsAtOnce are asked for by one request: a day of minutes. A slow server answers that when it would not a fortnight,
// and how far the work is can be told.
const pointsAtOnce = 1440

// readPrometheus reads the range in pieces, oldest first.
func (o *Options) readPrometheus(ctx context.Context, _ io.Reader, now time.Time, bar *cmdline.ProgressBar) (History, error) {
	query, err := o.rangeQuery(now)
	if err != nil {
		return History{}, err
	}
	source, err := prometheus.New(o.Prometheus)
	if err != nil {
		return History{}, err
	}
	defer source.Close()
	bar.Begin("reading the history", query.Points())
	defer bar.End()
	read := 0
	got, err := source.FetchInPieces(ctx, query, pointsAtOnce, func(points int) {
		read += points
		bar.Add(points)
	})
	if err != nil {
		return History{}, o.explain(ctx, err, time.Duration(read)*query.Step)
	}
	h := History{Series: got, Source: fmt.Sprintf("%.200s at %s", o.Query, o.server())}
	var dropped series.Dropped
	for i, v := range h.Values {
		h.Values[i] = series.CleanSample(v, &dropped)
	}
	if dropped.Any() {
		h.Notes = append(h.Notes, dropped.String())
	}
	return h, nil
}

// server is its address without the secrets that may stand in it.
func (o *Options) server() string { return prometheus.RedactedURL(o.Prometheus.URL) }

// rangeQuery lies on whole steps since the epoch and ends with the last whole one.
func (o *Options) rangeQuery(now time.Time) (refresh.Query, error) {
	end, err := o.end(now)
	if err != nil {
		return refresh.Query{}, err
	}
	step := time.Duration(o.Step)
	to := time.Unix(0, end.UnixNano()/int64(step)*int64(step)).UTC()
	whole := time.Duration(o.Range).Truncate(step)
	return refresh.Query{Expr: o.Query, From: to.Add(step - whole), To: to, Step: step}, nil
}

// explain adds how far the reading came, and what to do where more of it was too much for the server.
func (o *Options) explain(ctx context.Context, err error, read time.Duration) error {
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after reading %s of %s of history: %w", FormatSpan(read),
			FormatSpan(time.Duration(o.Range)), context.Cause(ctx))
	}
	slow := errors.Is(err, series.ErrUnavailable) && (read > 0 || errors.Is(err, prometheus.ErrTimeout))
	if !slow && !errors.Is(err, series.ErrTooLarge) {
		return err // Where nothing is answered at all, or the query is at fault, less of it would not help.
	}
	return fmt.Errorf(
		"%s of %s of history were read, then %w; if the server is slow, read less with a shorter --range "+
			"or a larger --step (now %s), or wait longer with --query-timeout (now %s)", FormatSpan(read),
		FormatSpan(time.Duration(o.Range)), err, o.Step, o.Prometheus.Timeout,
	)
}
