package refresh

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/run"
)

// Source fetches the history of a query.
type Source interface {
	// Fetch evaluates the query at From, From + Step, … up to and including To. Values[i] of the answer belongs to From + i·Step. Where the
	// source has no sample, the value is NaN. The answer is a single series. Errors wrap the sentinels of package series. Fetch splits ranges
	// that are too long for one request.
	Fetch(ctx context.Context, q Query) (forecast.Series, error)
}

// LabelSource is a Source that also tells series apart by a label.
type LabelSource interface {
	Source
	// FetchByLabel evaluates the query at To, and returns the value of each series by its label. It returns the same errors as Fetch, except
	// that an answer without series is not an error.
	FetchByLabel(ctx context.Context, q Query, label string) (map[string]float64, error)
}

// Query is one range of one Forecast's demand.
type Query struct {
	// Namespace of the Forecast, for limits and log lines. The expression is already confined to it.
	Namespace string
	// Source to ask; the zero value where there is only one.
	Source SourceRef
	// Expr is PromQL that yields one series.
	Expr string
	// From and To are multiples of Step since the epoch, From ≤ To.
	From, To time.Time
	Step     time.Duration
}

// SourceRef names a source of history that the operator granted to a namespace.
type SourceRef struct {
	Name string
	// Revision changes with the configuration of the source: what was read before may be of another store.
	Revision string
}

// Points is the number of steps that the query covers.
func (q Query) Points() int { return int(q.To.Sub(q.From)/q.Step) + 1 }

// Gaps is a series on the query's grid without a sample.
func (q Query) Gaps() forecast.Series {
	return forecast.Series{Start: q.From, Step: q.Step, Values: slices.Repeat([]float64{math.NaN()}, q.Points())}
}

// Batcher is a Source that answers several queries at once where they are alike.
type Batcher interface {
	Source
	// Batches groups the queries that can be answered together, at least two in a batch. All queries have the same namespace, source,
	// range and step.
	Batches(queries []Query) [][]Query
	// FetchBatch returns an answer for each query of a batch. If the error wraps ErrNotTogether, the caller must fetch each query by
	// itself. Any other error applies to each query.
	FetchBatch(ctx context.Context, batch []Query) ([]Answer, error)
}

// ErrNotTogether is an error of a batch, not of its queries.
var ErrNotTogether = errors.New("the queries cannot be answered in one batch")

// batchError is the error of a query that was part of a batch.
type batchError struct{ error }

func (e batchError) Unwrap() error { return e.error }

// Answer is what Fetch returns.
type Answer struct {
	Series forecast.Series
	Err    error
}

// maxBatchPoints is the longest range that is queried in a batch. It is enough for the newest history, but not for the whole one.
const maxBatchPoints = 500

// batch is a request in flight whose answers several workers wait for.
type batch struct {
	from time.Time
	// answered is closed once answers has the answers by expression. There are none if the source failed.
	answered chan struct{}
	answers  map[string]Answer
}

// batches has the batches of a step, by the queries that they answer.
type batches map[batchKey]*batch

// batchKey identifies a query without the start of its range.
type batchKey struct {
	namespace, expr string
	source          SourceRef
	to              int64
	step            time.Duration
}

func (q Query) batchKey() batchKey {
	return batchKey{q.Namespace, q.Expr, q.Source, q.To.UnixNano(), q.Step}
}

// startBatches starts the queries for the newest samples of the workers that are due, if the source can answer several in one request.
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
			l.background.Go(func() { l.fetchBatch(ctx, b, source, together) })
		}
	}
	return started
}

// newestQueries returns those queries for the newest samples that are known in advance. It returns none if the last query failed outside a
// batch, because such a query might make the batch fail.
func (w *worker) newestQueries(now time.Time) []Query {
	if _, together := errors.AsType[batchError](w.result.err); w.readsWhole || w.failures > 0 && !together {
		return nil
	}
	all := []Query{w.nextQuery(now)}
	if w.saturation != nil && !w.partial && !w.inRetryPause(now, w.pauses[Saturated].until) {
		all = append(all, w.queryAfter(w.job.SideQueries[Saturated], w.saturation.newestEnd(), w.newestStep(now)))
	}
	return slices.DeleteFunc(all, func(q Query) bool { return q.To.Before(q.From) || q.Points() > maxBatchPoints })
}

// fetchBatch fetches a batch once there is a slot for it.
func (l *Loop) fetchBatch(ctx context.Context, b *batch, source Batcher, queries []Query) {
	defer close(b.answered)
	q := &queries[0]
	release, err := slottedSource{Loop: l}.acquire(ctx, q)
	if err != nil {
		return
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, 2*l.config.Timeout) // The source may send the queries again one by one.
	defer cancel()
	answers, err := source.FetchBatch(ctx, queries)
	switch {
	case errors.Is(err, ErrNotTogether):
		l.log.InfoContext(ctx, "cannot batch the queries: Forewarm sends each query separately", "namespace",
			q.Namespace, "queries", len(queries), "error", err)
		return
	case err != nil:
		answers = slices.Repeat([]Answer{{Err: batchError{err}}}, len(queries))
	}
	b.answers = make(map[string]Answer, len(queries))
	for i, a := range answers {
		b.answers[queries[i].Expr] = a
	}
}

// batchedSource answers from the batches of a step, and queries the source if the batches have no answer.
type batchedSource struct {
	slottedSource

	batches batches
}

func (s batchedSource) Fetch(ctx context.Context, q Query) (forecast.Series, error) {
	b := s.batches[q.batchKey()]
	if b == nil || q.From.Before(b.from) {
		return s.slottedSource.Fetch(ctx, q)
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
		return s.slottedSource.Fetch(ctx, q)
	}
	out := a.Series.Slice(first, a.Series.Len())
	if !slices.ContainsFunc(out.Values, func(v float64) bool { return !math.IsNaN(v) }) {
		return s.slottedSource.Fetch(ctx, q) // The source has no series for this range, and returns the right error.
	}
	out.Values = slices.Clone(out.Values) // Other queries may use the same values.
	return out, nil
}

var errReplaced = errors.New("the Forecast was changed or deleted")

// pointsPerTimeout is the number of points that one timeout covers. One request to Prometheus returns at most 11,000 points.
const pointsPerTimeout = 10_000

// slottedSource queries the loop's source once there is a slot for each query. It does not query for a worker that was replaced.
type slottedSource struct {
	*Loop

	of *worker // nil for queries that outlast the worker
}

// acquire waits for a slot, and counts the query.
func (s slottedSource) acquire(ctx context.Context, q *Query) (release func(), err error) {
	if release, err = s.slots.acquire(ctx, q.Namespace, q.Source.Name); err != nil {
		return nil, err
	}
	if s.of != nil && s.of.replaced.Load() {
		release()
		return nil, errReplaced
	}
	s.queries.Add(1)
	return release, nil
}

// Fetch gives each query a timeout that grows with its range.
func (s slottedSource) Fetch(ctx context.Context, q Query) (forecast.Series, error) {
	release, err := s.acquire(ctx, &q)
	if err != nil {
		return forecast.Series{}, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout*time.Duration(1+q.Points()/pointsPerTimeout))
	defer cancel()
	return s.source.Fetch(ctx, q)
}

// FetchByLabel implements LabelSource.
func (s slottedSource) FetchByLabel(ctx context.Context, q Query, label string) (map[string]float64, error) {
	of, ok := s.source.(LabelSource)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	release, err := s.acquire(ctx, &q)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	return of.FetchByLabel(ctx, q, label)
}

// Clocked is a Source that tells the time by its own clock. A store gives samples the times of its clock, so if the clocks differ, samples
// look older than they are, or are older than they look.
type Clocked interface {
	Source
	// SourceClock returns the present time by the clock of the source that a namespace reads from.
	SourceClock(ctx context.Context, namespace string, source SourceRef) (time.Time, error)
}

// clockInterval is how often the clock of a source is read.
const clockInterval = 5 * time.Minute

// sourceClocks has how far the clocks of the sources are ahead of this machine's clock, if that is known.
type sourceClocks struct {
	mu    sync.Mutex
	asked map[SourceRef]time.Time
	ahead map[SourceRef]snapshot.ClockDifference
}

// askClocks reads the clocks of the sources if that is due. No step waits for it. Only Run calls it, because the time of a replay is not
// the present.
func (l *Loop) askClocks(ctx context.Context, clock run.Clock, now time.Time) {
	source, ok := l.source.(Clocked)
	if !ok {
		return
	}
	read := map[SourceRef]string{}
	for _, w := range l.workers {
		read[w.job.Source] = w.job.Key.Namespace
	}
	l.clocks.keep(read)
	for ref, namespace := range read {
		if l.clocks.due(ref, now) {
			l.background.Go(func() { l.readClock(ctx, clock, source, namespace, ref) })
		}
	}
}

// readClock reads the clock of one source.
func (l *Loop) readClock(ctx context.Context, clock run.Clock, source Clocked, namespace string, ref SourceRef) {
	log := l.log.With("source", ref.Name)
	defer func() {
		if fault := recover(); fault != nil {
			log.ErrorContext(ctx, "reading the clock of a source panicked: please report this", "fault", fault)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, l.config.Timeout)
	defer cancel()
	l.queries.Add(1)
	before := clock.Now()
	at, err := source.SourceClock(ctx, namespace, ref)
	if err != nil {
		log.DebugContext(ctx, "cannot read the clock of the source", "error", err)
		return
	}
	difference := snapshot.ClockDifference{Min: at.Sub(clock.Now()), Max: at.Sub(before)}
	ahead, last := difference.Least(), l.clocks.set(ref, difference).Least()
	if ahead.Abs() > snapshot.MinClockDifference && last.Abs() <= snapshot.MinClockDifference {
		log.WarnContext(ctx, "the clock of the source differs", "difference", clockText(ahead))
	}
}

// due reports whether the clock of a source must be read now. If so, it records that the clock was read.
func (c *sourceClocks) due(ref SourceRef, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked == nil {
		c.asked, c.ahead = map[SourceRef]time.Time{}, map[SourceRef]snapshot.ClockDifference{}
	}
	if last, found := c.asked[ref]; found && now.Sub(last).Abs() < clockInterval {
		return false // The absolute difference, because this machine's clock may have been set back.
	}
	c.asked[ref] = now
	return true
}

// set records a difference, and returns the previous one.
func (c *sourceClocks) set(ref SourceRef, ahead snapshot.ClockDifference) (before snapshot.ClockDifference) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.ahead[ref] = c.ahead[ref], ahead
	return before
}

// keep removes all sources that are no longer read.
func (c *sourceClocks) keep(read map[SourceRef]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	other := func(ref SourceRef) bool { _, found := read[ref]; return !found }
	maps.DeleteFunc(c.asked, func(ref SourceRef, _ time.Time) bool { return other(ref) })
	maps.DeleteFunc(c.ahead, func(ref SourceRef, _ snapshot.ClockDifference) bool { return other(ref) })
}

// known returns the differences by the source's name.
func (c *sourceClocks) known() map[string]snapshot.ClockDifference {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]snapshot.ClockDifference, len(c.ahead))
	for ref, ahead := range c.ahead {
		out[ref.Name] = ahead
	}
	return out
}

// explain adds the clock difference of a source to the conditions of a Forecast. Errors of the source are kept.
func (c *sourceClocks) explain(e *snapshot.ForecastSnapshot, t Job) {
	c.mu.Lock()
	ahead := c.ahead[t.Source].Least()
	c.mu.Unlock()
	if ahead.Abs() <= max(t.Step, snapshot.MinClockDifference) {
		return
	}
	text := clockText(ahead)
	effect := "Until then, the newest samples that Forewarm reads are %s older than they look"
	if ahead < 0 {
		effect = "Until then, the newest samples look %s older than they are"
	}
	for i := range e.Conditions {
		switch o := &e.Conditions[i]; {
		case o.Type == snapshot.ConditionSource && o.True:
			o.True, o.Reason = false, snapshot.ReasonClockDiffers
			o.Message = text + ". " + fmt.Sprintf(effect, humanize.Span(ahead.Abs().Round(time.Second)))
		case o.Type == snapshot.ConditionSource && o.Reason == snapshot.ReasonNoSeries:
			o.Message += "; " + text
		case o.Type == snapshot.ConditionReady && !o.True && ahead < 0 && e.State != snapshot.Invalid:
			o.Message = strings.TrimSuffix(o.Message, "; check the source") + "; " + text
		}
	}
}

// clockText says by how much the clocks differ, and what to do.
func clockText(ahead time.Duration) string {
	side := "ahead of"
	if ahead < 0 {
		side = "behind"
	}
	return fmt.Sprintf("the clock of the source is %s %s the clock of Forewarm: synchronize both clocks (NTP)",
		humanize.Span(ahead.Abs().Round(time.Second)), side)
}
