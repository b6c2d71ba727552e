package refresh

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/variant"
)

// worker keeps one Forecast up to date. While a refresh runs, the refresh owns all fields except published, fallbacks, replaced, awaited,
// readsWhole and problems, which belong to the loop, and served, which has a lock. Between refreshes, the loop owns all fields.
type worker struct {
	job           Job
	refit, offset time.Duration // Determine the anchors, see anchorAt.
	seasons       []time.Duration
	store         *series.Store
	newest        series.Newest
	sideState

	forecaster *forecaster.Forecaster
	anchor     time.Time
	// settled is the forecaster without the newest samples, which may still change; nil while no sample is expected to change. changed is the
	// oldest step that has changed since the last refresh; zero if none has.
	late    ingestDelay
	settled *forecaster.Forecaster
	changed time.Time
	units   units
	// served has the values that were served, and recorder has recorded their effect. The recorder does not process samples that may still
	// change.
	served   *servedValues
	recorder *objective.Calibrator
	// requested has the models that are fitted because requests select them.
	requested []string
	// incomplete is the age from which samples were complete at the last refresh.
	incomplete    time.Duration
	rereadTimeout time.Duration

	// partial is true if the store has only the newest history. After a failure, the whole history is not read before wholeRetry.
	partial       bool
	wholeRetry    time.Time
	wholeFailures int

	fetched  time.Time // The last step that was queried successfully.
	retry    time.Time // There is no query before this time.
	failures int
	refits   uint64

	// replaced is true if the object was changed or deleted, so that the result of the refresh is not needed.
	replaced atomic.Bool

	// awaited and readsWhole belong to the loop. awaited is true if the step that started the refresh waits for it. readsWhole is true if the
	// refresh reads the whole history.
	awaited, readsWhole bool

	// result is the result of the last refresh. published is the loop's copy, which a running refresh does not change.
	result, published result
	fallbacks         uint64
	// problems belongs to the loop. It has the reported problems by the type of the condition.
	problems map[string]*problem
	// background holds the results that are computed outside the steps. backgroundComputed is when the last computation started.
	background         *snapshot.ViewTracker
	backgroundComputed time.Time
	// diagnosed is when Forewarm last looked for the reason why there is no value.
	diagnosed time.Time
	// spent has the replica-hours that the simulated autoscalers have used since the object's first worker started. spentNow is the published
	// form of spent. counted is the end of the newest hour in it.
	spent    map[spender]float64
	spentNow []snapshot.Usage
	counted  time.Time
	// judged is when the signal was judged for the last time.
	judged time.Time
}

func newWorker(t Job, c Config) *worker {
	w := &worker{
		job: t, refit: c.Refit, offset: time.Duration(seedOf(t.Key) % uint64(c.Refit)), seasons: t.Seasons,
		late: newIngestDelay(t.Step), rereadTimeout: c.Timeout, problems: map[string]*problem{},
		sideState:  sideState{pauses: map[SideQuery]pause{}},
		background: new(snapshot.ViewTracker), served: new(servedValues),
	}
	if len(w.seasons) == 0 {
		w.seasons = []time.Duration{c.Season}
	}
	return w
}

// inherit takes over the samples of the previous worker, so that a change that keeps the query takes effect without
// fetching the history again. If the object is unchanged, and only its measured lead time or its autoscalers differ,
// the last result stays published until the first refresh is done: no user asked for the change, so a source that is down
// at that moment must not cost the value.
func (w *worker) inherit(before *worker) {
	old := before.job
	if before.store != nil && old.Source == w.job.Source && old.Expr == w.job.Expr && old.Step == w.job.Step &&
		old.History >= w.job.History {
		w.inheritSamples(before)
	}
	w.fallbacks, w.spent, w.counted = before.fallbacks, before.spent, before.counted
	if old.Generation == w.job.Generation {
		w.diagnosed, w.result.cause = before.diagnosed, before.published.cause
	}
}

// inheritSamples takes over the samples of a worker with the same query. It also takes over the answers of the other queries that are the
// same.
func (w *worker) inheritSamples(before *worker) {
	w.store, w.newest, w.late, w.anchor = before.store, before.newest, before.late, before.anchor
	w.partial = before.partial
	w.background, w.backgroundComputed, w.requested = before.background, before.backgroundComputed, before.requested
	w.served, w.recorder = before.served, before.recorder
	old := before.job
	w.keepAnswers(before)
	if old.Generation == w.job.Generation {
		w.result, w.published, w.problems = before.published, before.published, before.problems
	} else {
		w.result.clusters = before.published.clusters
	}
}

// newestStep returns the newest step that can be queried at a time. This is the step before the current one, whose samples may still
// arrive. For a source with a delay, it is an older step.
func (w *worker) newestStep(now time.Time) time.Time {
	return align(now, w.job.Step).Add(-w.job.Step - w.job.Delay)
}

// due reports whether there is a new step to query.
func (w *worker) due(now time.Time) bool {
	return w.newestStep(now).After(w.fetched) && !w.inRetryPause(now, w.retry)
}

// maxRetryPause bounds the mean pause between attempts to fetch the first history.
const maxRetryPause = 2 * time.Minute

// inRetryPause reports whether it is too early for another attempt. A pause that is longer than the longest possible one is from before the
// clock was set back, and is ignored.
func (w *worker) inRetryPause(now, retry time.Time) bool {
	return now.Before(retry) && retry.Sub(now) <= max(2*maxRetryPause, w.job.Step)
}

// clockWasAhead reports whether steps in the future were queried and none of them has a sample. In that case the clock was ahead and was
// set back, and the store has these steps as gaps. (A sample in the future means that the clock is behind.)
func (w *worker) clockWasAhead(now time.Time) bool {
	if w.store == nil || !w.fetched.After(w.newestStep(now).Add(w.job.Step)) {
		return false
	}
	newest, known := w.store.NewestSample()
	return !known || !newest.After(now)
}

// fetch fetches what is new. If there is nothing to append, w.result has the error.
func (w *worker) fetch(ctx context.Context, now time.Time, source LabelSource) (forecast.Series, bool) {
	if w.readsWhole {
		block, err := w.fetchWhole(ctx, now, source)
		if err == nil || w.partial && !w.due(now) {
			return block, err == nil
		}
	}
	q := w.nextQuery(now)
	block, err := fetchOnGrid(ctx, source, q)
	w.result.attempted, w.result.err = true, err
	switch missing := block.Len() > 0 && math.IsNaN(block.Values[block.Len()-1]); {
	case missing, errors.Is(err, series.ErrNoSeries):
		w.querySides(ctx, now, source, q, newestMissing)
	case err == nil:
		w.result.unowned = 0
	}
	if errors.Is(err, series.ErrNoSeries) && (w.store != nil || w.partial || w.scaledToZeroIn(q)) {
		// The series does not exist at the moment. That means a demand of 0 or a gap, which the fallback chain handles.
		block, err = q.Gaps(), nil
	}
	if err != nil {
		w.scheduleRetry(now)
		return forecast.Series{}, false
	}
	w.failures, w.fetched = 0, q.To
	if w.partial {
		return block, true
	}
	if passed := w.fetchOthers(ctx, now, source, q); passed && !w.anchor.IsZero() {
		block = w.reread(ctx, source, block)
	}
	return block, true
}

// fetchOthers runs the side queries of a demand query, and reports whether the query passes an anchor.
func (w *worker) fetchOthers(ctx context.Context, now time.Time, source LabelSource, q Query) (passed bool) {
	end := q.To.Add(q.Step)
	passed = w.anchorAt(end).After(w.anchor)
	m := demandRead
	if passed {
		m |= historyRead
	}
	if w.judgesAt(end) {
		m |= signalJudged
	}
	w.querySides(ctx, now, source, q, m)
	return passed
}

// reread reads the history again for a new anchor, so that all adapter replicas have the same history. If the source does not answer soon,
// the stored history is used.
func (w *worker) reread(ctx context.Context, source Source, newest forecast.Series) forecast.Series {
	ctx, cancel := context.WithTimeout(ctx, w.rereadTimeout)
	defer cancel()
	q := w.queryAfter(w.job.Expr, time.Time{}, newest.TimeAt(newest.Len()-1))
	block, err := fetchOnGrid(ctx, source, q)
	if w.result.rereadErr = err; err != nil {
		return newest
	}
	return block
}

// fetchOnGrid queries the source and rejects an answer that is not on the grid of the query.
func fetchOnGrid(ctx context.Context, source Source, q Query) (forecast.Series, error) {
	if q.To.Before(q.From) {
		return forecast.Series{Start: q.From, Step: q.Step}, nil
	}
	block, err := source.Fetch(ctx, q)
	if err != nil {
		return forecast.Series{}, err
	}
	if !block.Start.Equal(q.From) || block.Step != q.Step || len(block.Values) != q.Points() {
		return forecast.Series{}, fmt.Errorf("%w: expected %d points from %s, got %d from %s: the samples of the "+
			"source are not on the grid", series.ErrUnavailable, q.Points(), q.From, len(block.Values), block.Start)
	}
	return block, nil
}

// scheduleRetry delays the next attempt by a step. Before the first history the delay doubles with each failure,
// because that query is expensive. (Not while there is no series: that query is cheap, and the first sample should be
// seen soon.)
func (w *worker) scheduleRetry(now time.Time) {
	pause := w.job.Step
	if w.store == nil && !errors.Is(w.result.err, series.ErrNoSeries) {
		pause = w.pauseAfter(w.failures)
	}
	w.failures++
	w.retry = now.Add(pause)
}

// pauseAfter returns the pause after the given number of failures and one more. It doubles with each failure, and is randomized between 0.5
// and 1.5 times that value. Forecasts that fail together therefore do not retry together, nor in the rhythm of what makes their source
// fail.
func (w *worker) pauseAfter(failures int) time.Duration {
	mean := min(w.job.Step<<min(failures, 10), maxRetryPause)
	draw := rand.New(rand.NewPCG(seedOf(w.job.Key), uint64(failures))) //nolint:gosec // A test must repeat itself.
	return mean/2 + time.Duration(draw.Int64N(int64(mean)))
}

// forget drops the state. It is then rebuilt from the history.
func (w *worker) forget() {
	w.store, w.saturation, w.work, w.forecaster, w.settled = nil, nil, nil, nil, nil
	w.fetched, w.anchor, w.changed, w.units = time.Time{}, time.Time{}, time.Time{}, units{}
}

// nextQuery returns the query for the missing range and for the samples that are read again. At first this is the history before the last
// anchor or a part of it, later only the newest samples.
func (w *worker) nextQuery(now time.Time) Query {
	var end time.Time
	if w.store != nil {
		end = w.store.End()
	}
	q := w.queryAfter(w.job.Expr, end, w.newestStep(now))
	if newest := align(q.To.Add(-partialHistory), q.Step); w.partial && w.store == nil && newest.After(q.From) {
		q.From = newest
	}
	return q
}

// queryAfter returns the query up to a step. It begins some time before the end of the stored samples.
func (w *worker) queryAfter(expr string, end, to time.Time) Query {
	from := align(w.anchorAt(to).Add(-w.job.History), w.job.Step)
	if !end.IsZero() && !end.After(to) { // If there is nothing new, nothing is read again.
		end = align(end.Add(-w.late.overlapAt(to)), w.job.Step)
	}
	if end.After(from) {
		from = end
	}
	return Query{Namespace: w.job.Key.Namespace, Source: w.job.Source, Expr: expr, From: from, To: to, Step: w.job.Step}
}

// appendBlock stores a block and steps the forecaster to its end. The result is in w.result.
func (w *worker) appendBlock(block forecast.Series) {
	if w.store == nil {
		w.store = series.NewStore(w.job.Step, w.maxSteps())
	}
	before := w.store.End()
	got, err := w.store.Append(block)
	if err != nil {
		w.result.err = err
		return
	}
	w.newest.Note(block, w.maxSteps())
	w.result.dropped = got.Dropped
	w.noteChange(got.Changed)
	if !w.changed.Before(before) {
		w.changed = time.Time{} // The step is new; it has not changed.
	}
	w.late.read(w.changed, got.Grown, w.store.End().Add(-w.job.Step))
	w.stepForecaster()
	w.updateResult()
}

// noteChange records that a step has changed, unless the time is zero.
func (w *worker) noteChange(at time.Time) {
	if w.changed.IsZero() || !at.IsZero() && at.Before(w.changed) {
		w.changed = at
	}
}

// maxSteps returns the capacity of a store: the history that a rebuild needs, and the steps since then.
func (w *worker) maxSteps() int {
	return int((w.job.History+w.refit+maxOverlapOf(w.job.Step))/w.job.Step) + 2
}

// stepForecaster steps the forecaster to the end of the store. If samples have changed after the forecaster processed them, it processes
// them again. If an anchor has passed, it is rebuilt first.
func (w *worker) stepForecaster() {
	end, changed := w.store.End(), w.changed
	w.changed = time.Time{}
	incomplete := w.incomplete
	if w.incomplete = w.late.incompleteFor(); w.settled != nil {
		w.step(w.settled, end.Add(-w.late.overlap))
	}
	otherUnit := w.findUnitChanges(end, changed)
	before := func(f *forecaster.Forecaster) bool { return !changed.IsZero() && changed.Before(f.ReadUntil()) }
	switch {
	case w.rebuildsAt(end), otherUnit, before(w.forecaster) && (w.settled == nil || before(w.settled)):
		w.rebuildForecaster(end)
	case before(w.forecaster), w.settled != nil && (incomplete > 0 || w.incomplete > 0):
		w.forecaster = w.settled.Clone()
	}
	w.step(w.forecaster, end)
}

// step steps a forecaster to an end.
func (w *worker) step(f *forecaster.Forecaster, end time.Time) {
	came := w.history(f.ReadUntil(), end)
	if f == w.forecaster && w.incomplete > 0 {
		came.Incomplete = w.store.End().Add(-w.job.Step - w.incomplete).Before
	}
	f.LimitParts(w.job.VariantLimits)
	for i := range came.Values {
		f.Step(came.Reading(i))
	}
	w.publish(f)
}

// rebuildForecaster rebuilds the forecaster from the history before the newest anchor.
func (w *worker) rebuildForecaster(end time.Time) {
	anchor, late := w.anchorAt(end), w.late.changed
	w.noteRequested(anchor.After(w.anchor))
	if anchor.After(w.anchor) {
		w.late.changed = false
	}
	w.anchor = anchor
	w.refits++
	w.settled, w.forecaster = nil, forecaster.New(forecaster.Config{
		Step: w.job.Step, Window: w.job.window(), Seasons: w.seasons, Rate: w.job.Rate, Lookback: w.job.Lookback,
		DelaySteps: 1 + int(w.job.Delay/w.job.Step), // See newestStep.
		Starts:     sim.Starts(w.job.MedianLead, w.job.Lead), Seed: seedOf(w.job.Key),
		Models: w.job.Models, Named: slices.Concat(w.job.Named, w.requested), Settings: w.job.boundedSettings(),
		Autoscalers: w.job.Autoscalers, Distribute: variant.Distribute(w.job.Variants), Baseline: w.job.Baseline,
		Adjust: event.Adjust(calendar.Of(w.job.Events)), Deadline: w.job.Deadline,
		KeepServedPeaks: w.job.KeepServedPeaks,
		Lifetime:        w.refit + maxOverlapOf(w.job.Step) + 2*w.job.Step, // See anchorAt.
	}, w.history(align(anchor.Add(-w.job.History), w.job.Step), anchor))
	w.publish(w.forecaster)
	if late {
		w.settled = w.forecaster.Clone()
		w.step(w.settled, end.Add(-w.late.overlap))
		w.forecaster = w.settled.Clone()
	}
}

// seedOf returns a seed that is the same in all adapter replicas.
func seedOf(key snapshot.Key) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key.String()))
	return h.Sum64()
}

// history returns the demand of [from, to), with what is known about saturation and about times at zero replicas.
func (w *worker) history(from, to time.Time) forecaster.History {
	out := forecaster.History{Series: w.demand(from, to), ScaledToZero: w.job.ScaledToZero.At}
	demand.ConvertUnit(out.Series, w.units.changes)
	if w.saturation != nil {
		out.Saturated = w.saturation.at
	}
	if w.work != nil {
		out.Deferrable = stepsOf(w.work.Range(from, to))
	}
	return out
}

// updateResult records the state of the forecaster in w.result.
func (w *worker) updateResult() {
	w.result.stored, w.result.entry = true, nil
	newest, ok := w.newestSample()
	w.result.newestDropped = w.newest.Dropped(newest, w.store.End(), w.job.Step, forecaster.FallbackAfter(w.job.Step))
	if !ok {
		return
	}
	e := entryOf(w.job)
	w.forecaster.Describe(e)
	w.result.classified, w.result.isClassified = w.forecaster.CurrentSpan(w.store.End())
	w.recordSuspect(e)
	w.recordSuddenLow(e)
	w.result.unit = w.units.newest(w.store.End())
	w.judgeSignal()
	if w.result.partial = w.partial; w.partial {
		w.result.need = w.need()
	} else {
		e.Usage = w.spending()
	}
	e.Partial = w.partial
	if e.Objective != nil {
		e.Objective.Measured = w.result.measured
	}
	e.SampleTime, e.StaleAt = newest, newest.Add(w.job.StaleAfter)
	if e.Sampled = e.Observed; w.newest.At.Equal(newest) {
		e.Sampled = w.newest.Value
	}
	sampled, _ := w.store.NewestSample()
	w.result.withoutReplicas = newest.After(sampled) && newest.Add(w.job.Step).Equal(w.store.End())
	w.result.entry = e
	w.result.selected, w.result.span = w.forecaster.Decided(), w.forecaster.Span()
	w.result.season = w.seasons[0]
	w.result.fallback = w.forecaster.Fallback()
}
