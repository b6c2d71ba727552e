package refresh

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Batcher is a Source that answers several queries at once where they are alike.
type Batcher interface {
	Source
	// Batches returns those of the queries that can be answered together, two and more in a batch. All are of one namespace, source,
	// range and step.
	Batches(queries []Query) [][]Query
	// FetchBatch returns an answer for each query of a batch. On an error that wraps ErrNotTogether each is to be asked alone; any other
	// one is each query's.
	FetchBatch(ctx context.Context, batch []Query) ([]Answer, error)
}

// ErrNotTogether is an error of a batch, not of its queries.
var ErrNotTogether = errors.New("queries were not answered together")

// batchError is that of a query which was not asked alone.
type batchError struct{ error }

func (e batchError) Unwrap() error { return e.error }

// Answer is what Fetch returns.
type Answer struct {
	Series forecast.Series
	Err    error
}

// maxBatchPoints is the longest range that is asked together: that of the newest history, not of the whole.
const maxBatchPoints = 500

// batch is a request under way, of whom several wait for the answers.
type batch struct {
	from time.Time
	// answered is closed with the answers, by expression; there are none where the source failed.
	answered chan struct{}
	answers  map[string]Answer
}

// batches are those of a step, by what they answer.
type batches map[batchKey]*batch

// batchKey is a query without its range's start.
type batchKey struct {
	namespace, expr string
	source          SourceRef
	to              int64
	step            time.Duration
}

func (q Query) batchKey() batchKey {
	return batchKey{q.Namespace, q.Expr, q.Source, q.To.UnixNano(), q.Step}
}

// startBatches begins to ask for the newest samples of workers that are due, where the source answers several at once.
func (l *Loop) startBatches(ctx context.Context, due []*worker, now time.Time) batches {
	source, ok := l.source.(Batcher)
	if !ok {
		return nil
	}
	alike := map[batchKey][]Query{}
	for _, w := range due {
		for _, q := range w.newestQueries(now) {
			of := q.batchKey()
			of.expr = ""
			alike[of] = append(alike[of], q)
		}
	}
	started := batches{}
	for _, queries := range alike {
		first := slices.MinFunc(queries, func(a, b Query) int { return a.From.Compare(b.From) }).From
		for i := range queries {
			queries[i].From = first
		}
		for _, together := range source.Batches(queries) {
			b := &batch{from: first, answered: make(chan struct{})}
			for _, q := range together {
				started[q.batchKey()] = b
			}
			l.beside.Go(func() { l.fetchBatch(ctx, b, source, together) })
		}
	}
	return started
}

// newestQueries are the queries for the newest samples that can be foreseen; none after one that failed alone, which may be what fails
// the batch.
func (w *worker) newestQueries(now time.Time) []Query {
	if _, together := errors.AsType[batchError](w.result.err); w.readsWhole || w.failures > 0 && !together {
		return nil
	}
	all := []Query{w.nextQuery(now)}
	if w.saturation != nil && w.job.Saturated != "" && !w.partial && !w.inRetryPause(now, w.saturationSeries.retry) {
		all = append(all, w.queryAfter(w.job.Saturated, w.saturation.newestEnd(), w.newestStep(now)))
	}
	return slices.DeleteFunc(all, func(q Query) bool { return q.To.Before(q.From) || q.Points() > maxBatchPoints })
}

// fetchBatch answers a batch once there is a slot for it.
func (l *Loop) fetchBatch(ctx context.Context, b *batch, source Batcher, queries []Query) {
	defer close(b.answered)
	q := &queries[0]
	release, err := l.slots.acquire(ctx, q.Namespace, q.Source.Name)
	if err != nil {
		return
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, 2*l.config.Timeout) // A source that does not answer asks again.
	defer cancel()
	l.queries.Add(1)
	answers, err := source.FetchBatch(ctx, queries)
	switch {
	case errors.Is(err, ErrNotTogether):
		l.log.InfoContext(ctx, "each query is asked alone", "namespace", q.Namespace,
			"queries", len(queries), "error", err)
		return
	case err != nil:
		answers = slices.Repeat([]Answer{{Err: batchError{err}}}, len(queries))
	}
	b.answers = make(map[string]Answer, len(queries))
	for i, a := range answers {
		b.answers[queries[i].Expr] = a
	}
}

// batchedSource answers from the batches of a step, and asks the next source for what they have no answer to.
type batchedSource struct {
	batches batches
	next    Source
}

func (s batchedSource) Fetch(ctx context.Context, q Query) (forecast.Series, error) {
	b := s.batches[q.batchKey()]
	if b == nil || q.From.Before(b.from) {
		return s.next.Fetch(ctx, q)
	}
	select {
	case <-b.answered:
	case <-ctx.Done():
		return forecast.Series{}, context.Cause(ctx)
	}
	a, ok := b.answers[q.Expr]
	if ok && a.Err != nil {
		return forecast.Series{}, a.Err
	}
	first := int(q.From.Sub(b.from) / q.Step)
	if !ok || first >= a.Series.Len() {
		return s.next.Fetch(ctx, q)
	}
	out := a.Series.Slice(first, a.Series.Len())
	if !slices.ContainsFunc(out.Values, func(v float64) bool { return !math.IsNaN(v) }) {
		return s.next.Fetch(ctx, q) // Asked for this range alone it has no series, and the source says so.
	}
	out.Values = slices.Clone(out.Values) // Others may have asked the same.
	return out, nil
}

var errReplaced = errors.New("the Forecast has changed, or is gone")

// slottedSource asks a source for a worker, once there is a slot for each query, and not for one that was replaced.
type slottedSource struct {
	*Loop

	of *worker
}

func (s slottedSource) Fetch(ctx context.Context, q Query) (forecast.Series, error) {
	release, err := s.slots.acquire(ctx, q.Namespace, q.Source.Name)
	if err != nil {
		return forecast.Series{}, err
	}
	defer release()
	if s.of.replaced.Load() {
		return forecast.Series{}, errReplaced
	}
	s.queries.Add(1)
	return timeoutSource{s.source, s.config.Timeout}.Fetch(ctx, q)
}
